#include "optim/optimizers.h"

#include "optim/common_options.h"
#include "optim/optimizer_descriptor.h"

namespace engine {

NovoGrad::NovoGrad(std::vector<Parameter> parameters, const NovoGradOptions& settings,
                   const OptimizerOptions& options)
    : Optimizer(std::move(parameters), options, settings.lr, settings.weight_decay),
      settings_(settings) {
    check_moments("novograd", settings.beta1, settings.beta2, settings.eps);
}

void NovoGrad::make_state(std::size_t i) {
    slots_[i].state1 = new_state(i, /*may_be_low=*/false);
    const UseScope use(MemoryUse::optimizer);
    slots_[i].state2 = Tensor::zeros({}, slots_[i].state1.dtype(), lr_.device());
}

void NovoGrad::run(std::span<const kernels::UpdateTensor> tensors,
                   const kernels::UpdateScalars& scalars, kernels::UpdateCounts* counts) {
    const kernels::NovoGradOptions options{.beta1 = settings_.beta1,
                                           .beta2 = settings_.beta2,
                                           .eps = settings_.eps,
                                           .weight_decay = settings_.weight_decay,
                                           .bias_correction = settings_.bias_correction,
                                           .average_gradients = settings_.average_gradients,
                                           .norm = settings_.norm,
                                           .init_zero = settings_.init_zero,
                                           .regularise_inside = settings_.regularise_inside};
    on(lr_.device(), kernels::cpu::multi_tensor_novograd, kernels::cuda::multi_tensor_novograd)(
        tensors, options, scalars, counts, current_stream());
}

std::vector<std::string> NovoGrad::state_names() const { return {"exp_avg", "norm"}; }

OptimizerDescriptor novograd_descriptor() {
    const NovoGradOptions own;
    return {
        .kind = "novograd",
        .title = "NovoGrad",
        .summary =
            "Divides each layer's gradient by its running norm: Adam with one number per "
            "layer instead of one per weight.",
        .options = {learning_rate_option(own.lr),
                    beta1_option(own.beta1),
                    beta2_option(own.beta2),
                    eps_option(own.eps),
                    weight_decay_option(own.weight_decay),
                    {.name = "norm",
                     .label = "Norm",
                     .default_value = std::string("l2"),
                     .help = "Norm of a layer's gradient that NovoGrad divides by: L2, or the "
                             "largest magnitude.",
                     .choices = {{"l2", "L2"}, {"largest", "Largest magnitude"}}}},
        .states = [](const TypedOptions&) { return 1; },
        .make = [](const TypedOptions& o, std::vector<Parameter> parameters,
                   const OptimizerOptions& common) -> std::unique_ptr<Optimizer> {
            using kernels::NormKind;
            return std::make_unique<NovoGrad>(
                std::move(parameters),
                NovoGradOptions{.lr = o.number("lr"),
                                .beta1 = o.number("beta1"),
                                .beta2 = o.number("beta2"),
                                .eps = o.number("eps"),
                                .weight_decay = o.number("weight_decay"),
                                .norm = o.word("norm") == "l2" ? NormKind::l2 : NormKind::largest},
                common);
        }};
}

}  // namespace engine
