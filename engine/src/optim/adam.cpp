#include "optim/adam.h"

#include "optim/check.h"

namespace engine {

Adam::Adam(std::vector<Parameter> parameters, const AdamOptions& settings,
           const OptimizerOptions& options)
    : Adam(std::move(parameters), settings, options, false) {}

Adam::Adam(std::vector<Parameter> parameters, const AdamOptions& settings,
           const OptimizerOptions& options, bool decoupled)
    : Optimizer(std::move(parameters), options, settings.lr, settings.weight_decay),
      settings_(settings),
      decoupled_(decoupled) {
    check_moments(decoupled ? "adamw" : "adam", settings.beta1, settings.beta2, settings.eps);
}

void Adam::make_state(std::size_t i) {
    slots_[i].state1 = new_state(i, /*may_be_low=*/false);
    slots_[i].state2 = new_state(i, /*may_be_low=*/false);
    if (settings_.amsgrad) slots_[i].state3 = new_state(i, /*may_be_low=*/false);
}

void Adam::run(std::span<const kernels::UpdateTensor> tensors,
               const kernels::UpdateScalars& scalars, kernels::UpdateCounts* counts) {
    const kernels::AdamOptions options{
        settings_.beta1, settings_.beta2,           settings_.eps,    settings_.weight_decay,
        decoupled_,      settings_.bias_correction, settings_.amsgrad};
    on(lr_.device(), kernels::cpu::multi_tensor_adam, kernels::cuda::multi_tensor_adam)(
        tensors, options, scalars, counts, current_stream());
}

std::vector<std::string> Adam::state_names() const {
    return settings_.amsgrad ? std::vector<std::string>{"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}
                             : std::vector<std::string>{"exp_avg", "exp_avg_sq"};
}

}  // namespace engine
