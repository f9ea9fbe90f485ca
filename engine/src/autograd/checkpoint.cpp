#include "autograd/checkpoint.h"

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "autograd/backward.h"
#include "engine/base/error.h"

namespace engine {
namespace {

constexpr Op checkpoint_op("checkpoint(inputs[])",
                           "Computes again in backward, under the state of the first run.",
                           {.derivatives = 1});

/// The saved inputs as leaves of a graph of their own.
TensorList leaves_of(const Saved& saved, std::size_t count) {
    TensorList leaves;
    for (std::size_t i = 0; i < count; ++i) {
        const Tensor kept = saved[static_cast<int>(i)];
        Tensor leaf = kept.defined() ? kept.detach() : kept;
        if (leaf.defined() && saved.needs_gradient(static_cast<int>(i)))
            leaf.set_requires_grad(true);
        leaves.push_back(leaf);
    }
    return leaves;
}

TensorList recompute(const Segment& segment, const AutocastState& state, const Saved& saved,
                     std::size_t count, std::span<const Tensor> grads) {
    if (grad_enabled()) {
        throw Error(ErrorCode::state,
                    "checkpoint: a second derivative through a recomputed part is not there",
                    "Run this part without checkpoint.");
    }
    const AutocastSnapshot as_in_forward(state);
    const TensorList leaves = leaves_of(saved, count);
    TensorList outputs;
    {
        const GradMode recorded(true);
        const ContextScope<&ComputeContext::recomputes> again(true);
        outputs = segment(leaves);
    }
    TensorList from, with;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (!grads[i].defined() || !outputs[i].requires_grad()) continue;
        from.push_back(outputs[i]);
        with.push_back(grads[i]);
    }
    backward(from, with);
    TensorList found;
    for (const auto& leaf : leaves) found.push_back(leaf.defined() ? leaf.grad() : Tensor());
    return found;
}

}  // namespace

TensorList checkpoint(const Segment& segment, const TensorList& inputs) {
    if (!grad_enabled()) return segment(inputs);
    TensorList outputs;
    {
        const GradMode off(false);
        outputs = segment(inputs);
    }
    for (auto& output : outputs) output = output.detach();
    // Parameters are no inputs here. Without this leaf a segment whose inputs are all frozen would
    // not join the graph, and its parameters would get no gradients.
    TensorList watched = inputs;
    watched.push_back(Tensor::scalar(0, DType::f32));
    watched.back().set_requires_grad(true);
    std::vector<Save> saves;
    for (const auto& input : inputs) saves.push_back(save(input));
    const AutocastState& state = autocast_state();
    return record_outputs(
        checkpoint_op, watched, outputs, std::move(saves),
        [segment, state, count = inputs.size(),
         force = state.force != nullptr ? state.force->shared_from_this() : nullptr](
            std::span<const Tensor> grads, const Saved& saved) {
            return recompute(segment, state, saved, count, grads);
        });
}

}  // namespace engine
