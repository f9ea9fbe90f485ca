#include "optim/lamb.h"

#include "optim/check.h"

namespace engine {

Lamb::Lamb(std::vector<Parameter> parameters, const LambOptions& settings,
           const OptimizerOptions& options)
    : Optimizer(std::move(parameters), options, settings.lr, settings.weight_decay),
      settings_(settings) {
    check_moments("lamb", settings.beta1, settings.beta2, settings.eps);
    if (!(settings.max_grad_norm >= 0))
        throw Error(ErrorCode::value, "lamb: max_grad_norm must not be negative");
}

void Lamb::make_state(std::size_t i) {
    slots_[i].state1 = new_state(i, /*may_be_low=*/false);
    slots_[i].state2 = new_state(i, /*may_be_low=*/false);
}

void Lamb::run(std::span<const kernels::UpdateTensor> tensors,
               const kernels::UpdateScalars& scalars, kernels::UpdateCounts* counts) {
    const kernels::LambOptions options{.beta1 = settings_.beta1,
                                       .beta2 = settings_.beta2,
                                       .eps = settings_.eps,
                                       .weight_decay = settings_.weight_decay,
                                       .decoupled = settings_.decoupled,
                                       .bias_correction = settings_.bias_correction,
                                       .average_gradients = settings_.average_gradients,
                                       .max_grad_norm = settings_.max_grad_norm,
                                       .nvlamb = settings_.nvlamb};
    on(lr_.device(), kernels::cpu::multi_tensor_lamb, kernels::cuda::multi_tensor_lamb)(
        tensors, options, scalars, counts, current_stream());
}

std::vector<std::string> Lamb::state_names() const { return {"exp_avg", "exp_avg_sq"}; }

}  // namespace engine
