#pragma once

#include "tensor/tape.h"

// Between the tape and the backward pass (autograd/backward.cpp); not for ops.
namespace engine::detail {

/// The node (or a leaf's accumulator) behind a tensor; null if it requires no gradient.
Edge make_edge(const Tensor& tensor);

/// The operation of a leaf's accumulator.
inline constexpr Op accumulate_op("accumulate_grad(x)",
                                  "Adds a leaf's gradient in the leaf's own type.", no_gradient);

/// Backward passes that this thread is in, one inside the other.
inline int backward_depth() noexcept { return ComputeContext::of_thread().backward_depth; }

/// in_backward() while one lives.
class BackwardScope {
public:
    /// frees_graph: the pass frees a node's saved tensors once it has its gradients.
    explicit BackwardScope(bool frees_graph) noexcept : frees_(frees_graph) {}

private:
    ContextScope<&ComputeContext::backward_depth> depth_{backward_depth() + 1};
    ContextScope<&ComputeContext::frees_graph> frees_;
};
/// Whether this thread is in a backward pass, the innermost of which frees its graph.
inline bool backward_frees_graph() noexcept { return ComputeContext::of_thread().frees_graph; }

}  // namespace engine::detail
