#include "autograd/shown_parts.h"

#include "autograd/backward.h"
#include "tensor/cast.h"
#include "tensor/observer.h"
#include "tensor/tape_detail.h"

namespace engine {
namespace {

void show_same(const Tensor& shown, const Tensor& own) {
    if (!shown.defined() || !own.defined()) return;
    for (OpObserver* const each : detail::op_observers()) each->on_same(shown, own);
}

}  // namespace

TensorList show_parts(const TensorList& inputs, const std::function<TensorList()>& together,
                      const Operations& apart, const Operations& kept) {
    TensorList results;
    {
        const AudienceScope unseen(Audience::gradients_alone);
        results = together();
    }
    if (results.empty()) return results;
    const auto& node = results.front().impl()->node;
    TensorList again = inputs;
    {
        const AudienceScope aside(Audience::aside);
        const GradMode off(false);
        if (node && kept) {
            const AudienceScope unseen(Audience::gradients_alone);
            again = kept(results);
        }
        AutocastState state = autocast_state();
        state.cache_enabled = false;  // it would hold what `together` has cast
        const AutocastSnapshot uncached(state);
        const TensorList shown = apart(inputs);
        for (std::size_t i = 0; i < shown.size(); ++i) show_same(shown[i], results[i]);
    }
    if (node) node->grad_fn = ShownGradient(std::move(node->grad_fn), apart, std::move(again));
    return results;
}

Edge in_open_module(const Tensor& parameter) { return detail::make_edge(parameter); }

TensorList ShownGradient::operator()(std::span<const Tensor> grads, const Saved& saved) const {
    if (grad_enabled() || !operations_are_observed()) return together_(grads, saved);
    // Held, so that nothing overwrites them before they are shown.
    const TensorList held(grads.begin(), grads.end());
    TensorList found;
    {
        const AudienceScope unseen(Audience::gradients_alone);
        found = together_(grads, saved);
    }
    show(held, saved, found);
    return found;
}

void ShownGradient::show(std::span<const Tensor> grads, const Saved& saved,
                         const TensorList& found) const {
    const AudienceScope aside(Audience::aside);
    const ModuleScope opened(module_);
    TensorList inputs, wanted, own, results, given;
    {
        const AudienceScope unseen(Audience::gradients_alone);
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            inputs.push_back(inputs_[i].detach());
            if (!saved.needs_gradient(static_cast<int>(i)) || !found[i].defined()) continue;
            inputs[i] = to(inputs[i], found[i].dtype()).detach().set_requires_grad(true);
            wanted.push_back(inputs[i]);
            own.push_back(found[i]);
        }
        const GradMode recorded(true);
        const AutocastSnapshot as_in_forward(state_);
        const TensorList made = apart_(inputs);
        for (std::size_t i = 0; i < made.size(); ++i) {
            if (!grads[i].defined() || !made[i].requires_grad()) continue;
            results.push_back(made[i]);
            given.push_back(grads[i]);
        }
    }
    const TensorList shown = grad(results, wanted, given, {}, /*allow_unused=*/true);
    for (std::size_t i = 0; i < shown.size(); ++i) show_same(shown[i], own[i]);
}

}  // namespace engine
