#pragma once

#include <utility>

#include "tensor/tape.h"

// Ways in which a backward pass saves memory or a kernel and gives the same numbers: a gradient
// that overwrites what nobody reads any more, one that stays in 16 bits, a sum that a gradient
// function computes itself.
namespace engine {

/// For gradient functions: lets the result overwrite the memory of `kept`, a saved tensor that the
/// function has read and holds one handle to. Returns it outside any graph; counts as a write.
/// Undefined where the old contents may still be read: by a later pass over the graph, by the
/// gradient of this gradient, through another handle or view, or by an observer of operations
/// (OpObserver::reads_inputs()).
Tensor reuse_saved(const Tensor& kept);

/// Hands out the memory of a gradient that the function was given: undefined where anyone but the
/// backward pass holds it.
Tensor reuse_gradient(const Tensor& given);

/// While it lives, and while gradient mode is off in them, backward passes of this thread may leave
/// the gradient of a leaf that has a 16-bit copy (decisions.md#low-precision-weights, D6) in the
/// copy's type. It has the values that a cast to the leaf's type would have; gradients that are
/// added up are cast first. Observers of operations are shown the cast, which runs aside. For
/// callers whose next step reads gradients of any type.
using LowGradients = ContextScope<&ComputeContext::low_gradients>;
/// Whether one lives on this thread.
inline bool low_gradients_stay() noexcept { return ComputeContext::of_thread().low_gradients; }
/// Whether this gradient may reach the leaf as it is.
bool takes_low_gradient(const TensorImpl& leaf, const Tensor& gradient) noexcept;

/// The gradient function of a node with one output that adds up two gradients of it in its own
/// kernel: called with one gradient or with two of the output's type, whose sum it rounds to that
/// type before anything else. The numbers are those of an addition first; a launch and a pass over
/// memory go. The backward pass gives two only where no observer of gradients alone wants
/// the sum.
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
