#include "optim/lamb.h"

#include "optim/check.h"
#include "optim/optimizer_descriptor.h"

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

OptimizerDescriptor lamb_descriptor() {
    const LambOptions own;
    return {.kind = "lamb",
            .title = "LAMB",
            .summary =
                "Adam's direction with a layer-wise rate that follows the weight norm. For very "
                "large batches.",
            .fields = {"lr", "beta1", "beta2", "eps", "weight_decay", "max_grad_norm", "nvlamb"},
            // A trust ratio scales the rate, so runs of a few hundred steps need a larger one than
            // the class, which has that of apex.
            .defaults = {.lr = 0.01,
                         .weight_decay = own.weight_decay,
                         .beta1 = own.beta1,
                         .beta2 = own.beta2,
                         .eps = own.eps,
                         .max_grad_norm = own.max_grad_norm},
            .states = [](const OptimizerConfig&) { return 2; },
            .make = [](const OptimizerConfig& c, std::vector<Parameter> parameters,
                       const OptimizerOptions& options) -> std::unique_ptr<Optimizer> {
                return std::make_unique<Lamb>(std::move(parameters),
                                              LambOptions{.lr = c.lr,
                                                          .beta1 = c.beta1,
                                                          .beta2 = c.beta2,
                                                          .eps = c.eps,
                                                          .weight_decay = c.weight_decay,
                                                          .max_grad_norm = c.max_grad_norm,
                                                          .nvlamb = c.nvlamb},
                                              options);
            }};
}

}  // namespace engine
