#pragma once

#include <utility>

#include "tensor/tape.h"

namespace engine {

/// The gradient function of a node with one output that adds up two gradients of it in its own
/// kernel: called with one gradient or with two of the output's type, whose sum it rounds to that
/// type before anything else. The numbers are those of an addition first; a launch and a pass over
/// memory go. The backward pass gives two only where nobody observes the sum.
class PairedGradFn {
public:
    explicit PairedGradFn(GradFn fn) : fn_(std::move(fn)) {}
    TensorList operator()(std::span<const Tensor> grads, const Saved& saved) const {
        return fn_(grads, saved);
    }

private:
    GradFn fn_;
};

inline bool takes_pair(const Node& node) {
    return node.outputs.size() == 1 && node.grad_fn.target<PairedGradFn>() != nullptr;
}

}  // namespace engine
