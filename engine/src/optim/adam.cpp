#include "optim/optimizers.h"

#include "optim/common_options.h"
#include "optim/optimizer_descriptor.h"

namespace engine {
namespace {

/// The descriptor that Adam and AdamW share; their options differ in their defaults alone.
template <typename Kind, typename KindOptions>
OptimizerDescriptor adam_like(std::string kind, std::string title, std::string summary) {
    const KindOptions own;
    return {.kind = std::move(kind),
            .title = std::move(title),
            .summary = std::move(summary),
            .options = {learning_rate_option(own.lr),
                        beta1_option(own.beta1),
                        beta2_option(own.beta2),
                        eps_option(own.eps),
                        weight_decay_option(own.weight_decay),
                        {.name = "amsgrad",
                         .label = "AMSGrad",
                         .default_value = own.amsgrad,
                         .help = "Divides by the largest running mean so far, so that step sizes "
                                 "never grow again."}},
            .states = [](const TypedOptions& o) { return o.flag("amsgrad") ? 3 : 2; },
            .make = [](const TypedOptions& o, std::vector<Parameter> parameters,
                       const OptimizerOptions& common) -> std::unique_ptr<Optimizer> {
                return std::make_unique<Kind>(
                    std::move(parameters),
                    KindOptions{o.number("lr"), o.number("beta1"), o.number("beta2"),
                                o.number("eps"), o.number("weight_decay"), o.flag("amsgrad")},
                    common);
            }};
}

}  // namespace

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

OptimizerDescriptor adam_descriptor() {
    return adam_like<Adam, AdamOptions>(
        "adam", "Adam",
        "Adapts the step size of every weight to its gradient history. Weight decay acts through "
        "the gradient.");
}

OptimizerDescriptor adamw_descriptor() {
    return adam_like<AdamW, AdamWOptions>(
        "adamw", "AdamW",
        "Adapts the step size of every weight to its gradient history, with decoupled weight "
        "decay. Works well with little tuning.");
}

AdamW::AdamW(std::vector<Parameter> parameters, const AdamWOptions& settings,
             const OptimizerOptions& options)
    : Adam(std::move(parameters),
           AdamOptions{settings.lr, settings.beta1, settings.beta2, settings.eps,
                       settings.weight_decay, settings.amsgrad, settings.bias_correction},
           options, true) {}

}  // namespace engine
