#include "optim/optimizers.h"

#include "optim/common_options.h"
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
    // A trust ratio scales the rate, so runs of a few hundred steps need a larger one than the
    // class, which has that of apex.
    return {.kind = "lamb",
            .title = "LAMB",
            .summary =
                "Adam's direction with a layer-wise rate that follows the weight norm. For very "
                "large batches.",
            .options = {learning_rate_option(0.01),
                        beta1_option(own.beta1),
                        beta2_option(own.beta2),
                        eps_option(own.eps),
                        weight_decay_option(own.weight_decay),
                        {.name = "max_grad_norm",
                         .label = "Max grad norm",
                         .default_value = own.max_grad_norm,
                         .help = "LAMB clips the norm of all gradients together to this value (0 = "
                                 "no limit).",
                         .lowest = 0,
                         .fits_f32 = true},
                        {.name = "nvlamb",
                         .label = "NVLAMB",
                         .default_value = own.nvlamb,
                         .help = "Applies LAMB's layer-wise rate to weights without decay too."}},
            .states = [](const TypedOptions&) { return 2; },
            .make = [](const TypedOptions& o, std::vector<Parameter> parameters,
                       const OptimizerOptions& common) -> std::unique_ptr<Optimizer> {
                return std::make_unique<Lamb>(
                    std::move(parameters),
                    LambOptions{.lr = o.number("lr"),
                                .beta1 = o.number("beta1"),
                                .beta2 = o.number("beta2"),
                                .eps = o.number("eps"),
                                .weight_decay = o.number("weight_decay"),
                                .max_grad_norm = o.number("max_grad_norm"),
                                .nvlamb = o.flag("nvlamb")},
                    common);
            }};
}

}  // namespace engine
