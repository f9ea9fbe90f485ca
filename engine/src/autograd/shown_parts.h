#pragma once

#include <functional>
#include <utility>

#include "amp/autocast.h"
#include "tensor/tape.h"

namespace engine {

/// Operations from the inputs to the results, each in the module that it belongs to.
using Operations = std::function<TensorList(const TensorList& inputs)>;

/// For operations of which `together` makes one node of the tape: runs it as it runs without
/// observers, unseen, and then `apart`, which has the same results, aside (OpObserver::on_aside).
/// In the backward pass likewise: the node's own gradient function, then the gradients of `apart`.
/// Returns the results of `together`; none if it has none, and nothing is shown then.
///
/// inputs  of the node, in its order, before casts
/// kept    inputs of `apart` in the backward pass, made of the results: only for values that the
///         node does not keep itself; null: `inputs`
TensorList show_parts(const TensorList& inputs, const std::function<TensorList()>& together,
                      const Operations& apart, const Operations& kept = nullptr);

/// For a node of several modules: the place of a parameter on the tape, made in the open module, so
/// that observers see its gradient there. To be kept until the node is recorded.
Edge in_open_module(const Tensor& parameter);

/// The gradient function of such a node. Its gradients are shown as those of its parts, so that the
/// backward pass shows them to observers of gradients alone.
class ShownGradient {
public:
    ShownGradient(GradFn together, Operations apart, TensorList inputs)
        : together_(std::move(together)), apart_(std::move(apart)), inputs_(std::move(inputs)) {}
    TensorList operator()(std::span<const Tensor> grads, const Saved& saved) const;

private:
    void show(std::span<const Tensor> grads, const Saved& saved, const TensorList& found) const;

    GradFn together_;
    Operations apart_;
    TensorList inputs_;
    ModuleName module_ = current_module_name();
    AutocastState state_ = autocast_state();  // without forced types
};

inline bool shows_parts(const Node& node) {
    return node.grad_fn.target<ShownGradient>() != nullptr && !grad_enabled();
}

}  // namespace engine
