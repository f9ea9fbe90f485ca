#include "optim/adamw.h"

#include "engine/error.h"

namespace engine {

AdamW::AdamW(std::vector<Parameter> parameters, const AdamWOptions& settings,
             const OptimizerOptions& options)
    : Optimizer(std::move(parameters), options, settings.lr), settings_(settings) {
    const auto in_range = [](double beta) { return beta >= 0 && beta < 1; };
    if (!in_range(settings.beta1) || !in_range(settings.beta2)) {
        throw Error(ErrorCode::value, "adamw: each beta must be in [0, 1)");
    }
    if (!(settings.eps >= 0) || !(settings.weight_decay >= 0)) {
        throw Error(ErrorCode::value, "adamw: eps and weight decay must not be negative");
    }
}

void AdamW::make_state(std::size_t i) {
    slots_[i].state1 = new_state(i, /*may_be_low=*/false);
    slots_[i].state2 = new_state(i, /*may_be_low=*/false);
}

void AdamW::run(std::span<const kernels::UpdateTensor> tensors,
                const kernels::UpdateScalars& scalars, kernels::UpdateCounts* counts) {
    const kernels::AdamOptions options{settings_.beta1, settings_.beta2, settings_.eps,
                                       settings_.weight_decay, true};
    on(lr_.device(), kernels::cpu::multi_tensor_adam, kernels::cuda::multi_tensor_adam)(
        tensors, options, scalars, counts, current_stream());
}

std::vector<std::pair<std::string, Tensor>> AdamW::state(std::size_t i) const {
    if (!slots_[i].state1.defined()) return {};
    return {{"exp_avg", slots_[i].state1}, {"exp_avg_sq", slots_[i].state2}};
}

}  // namespace engine
