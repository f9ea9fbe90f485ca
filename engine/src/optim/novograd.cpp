#include "optim/novograd.h"

#include "optim/check.h"

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

}  // namespace engine
