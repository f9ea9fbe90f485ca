#include "optim/novograd.h"

#include "optim/check.h"
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
    return {.kind = "novograd",
            .title = "NovoGrad",
            .summary =
                "Divides each layer's gradient by its running norm: Adam with one number per "
                "layer instead of one per weight.",
            .fields = {"lr", "beta1", "beta2", "eps", "weight_decay", "norm"},
            .defaults = {.lr = own.lr,
                         .weight_decay = own.weight_decay,
                         .beta1 = own.beta1,
                         .beta2 = own.beta2,
                         .eps = own.eps},
            .states = [](const OptimizerConfig&) { return 1; },
            .make = [](const OptimizerConfig& c, std::vector<Parameter> parameters,
                       const OptimizerOptions& options) -> std::unique_ptr<Optimizer> {
                const bool largest = c.norm == "largest";
                return std::make_unique<NovoGrad>(
                    std::move(parameters),
                    NovoGradOptions{
                        .lr = c.lr,
                        .beta1 = c.beta1,
                        .beta2 = c.beta2,
                        .eps = c.eps,
                        .weight_decay = c.weight_decay,
                        .norm = largest ? kernels::NormKind::largest : kernels::NormKind::l2},
                    options);
            }};
}

}  // namespace engine
