#pragma once

#include "tensor/tape.h"

// Between the tape and the backward pass (autograd/backward.cpp); not for ops.
namespace engine::detail {

/// The node (or a leaf's accumulator) behind a tensor; null if it requires no gradient.
Edge make_edge(const Tensor& tensor);

/// The operation of a leaf's accumulator.
extern const OpInfo accumulate_info;

/// in_backward() while one lives.
class BackwardScope {
public:
    /// frees_graph: the pass frees a node's saved tensors once it has its gradients.
    explicit BackwardScope(bool frees_graph) noexcept;
    ~BackwardScope();
    BackwardScope(const BackwardScope&) = delete;
    BackwardScope& operator=(const BackwardScope&) = delete;

private:
    bool freed_before_;
};
/// Backward passes that this thread is in, one inside the other.
int backward_depth() noexcept;
/// Whether this thread is in a backward pass, the innermost of which frees its graph.
bool backward_frees_graph() noexcept;

}  // namespace engine::detail
