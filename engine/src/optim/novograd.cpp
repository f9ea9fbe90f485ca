#include "optim/optimizers.h"

#include "optim/optimizer_descriptor.h"

namespace engine {

NovoGrad::NovoGrad(std::vector<Parameter> parameters, const NovoGradOptions& settings,
                   const OptimizerOptions& options)
    : KernelOptimizer(std::move(parameters), settings, options) {
    check_moments("novograd", settings.beta1, settings.beta2, settings.eps);
}

void NovoGrad::make_state(std::size_t i) {
    slots_[i].state1 = new_state(i, /*may_be_low=*/false);
    const UseScope use(MemoryUse::optimizer);
    slots_[i].state2 = Tensor::zeros({}, slots_[i].state1.dtype(), lr_.device());
}

std::vector<std::string> NovoGrad::state_names() const { return {"exp_avg", "norm"}; }

OptimizerDescriptor novograd_descriptor() {
    return with_options<NovoGrad, NovoGradOptions>(
        {.kind = "novograd",
         .title = "NovoGrad",
         .summary =
             "Divides each layer's gradient by its running norm: Adam with one number per layer "
             "instead of one per weight.",
         .states = [](const TypedOptions&) { return 1; }},
        {},
        {{learning_rate_option(), &NovoGradOptions::lr},
         {beta1_option(), &NovoGradOptions::beta1},
         {beta2_option(), &NovoGradOptions::beta2},
         {eps_option(), &NovoGradOptions::eps},
         {weight_decay_option(), &NovoGradOptions::weight_decay},
         {option(
              "norm", "Norm", {},
              "Norm of a layer's gradient that NovoGrad divides by: L2, or the largest magnitude.",
              opt::one_of({{"l2", "L2"}, {"largest", "Largest magnitude"}})),
          &NovoGradOptions::norm}});
}

}  // namespace engine
