#pragma once

#include "core/tape.h"

// Between the tape and the backward pass (autograd/backward.cpp); not for ops.
namespace engine::detail {

/// The node (or a leaf's accumulator) behind a tensor; null if it wants no gradient.
Edge edge_of(const Tensor& tensor);

/// in_backward() while one lives.
class BackwardScope {
public:
    BackwardScope() noexcept;
    ~BackwardScope();
    BackwardScope(const BackwardScope&) = delete;
    BackwardScope& operator=(const BackwardScope&) = delete;
};
/// Backward passes that this thread is in, one inside the other.
int backward_depth() noexcept;

}  // namespace engine::detail
