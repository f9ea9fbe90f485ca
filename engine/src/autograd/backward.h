#pragma once

#include "tensor/tape.h"

namespace engine {

struct BackwardOptions {
    bool retain_graph = false;
    bool create_graph = false;  ///< record the gradient ops, for a second derivative
};

/// Adds the gradients of sum(outputs * grads) to the leaves' grad. An undefined grad is 1 for a
/// one-element output. Throws Error(state) where there is no graph, and where an op needs saved
/// tensors that an earlier pass without retain_graph has freed. Ops that saved nothing can run any
/// number of times.
void backward(std::span<const Tensor> outputs, std::span<const Tensor> grads = {},
              const BackwardOptions& options = {});
inline void backward(const Tensor& output, const BackwardOptions& options = {}) {
    backward({&output, 1}, {}, options);
}

/// Gradients of `inputs` only; leaves' grad is unchanged. For an input that the outputs do not
/// depend on: undefined, or an error if `allow_unused` is off.
TensorList grad(std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                std::span<const Tensor> grad_outputs = {}, const BackwardOptions& options = {},
                bool allow_unused = false);

}  // namespace engine
