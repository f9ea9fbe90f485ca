#include "optim/optimizers.h"

#include "optim/optimizer_descriptor.h"

namespace engine {

Adam::Adam(std::vector<Parameter> parameters, const AdamOptions& settings,
           const OptimizerOptions& options)
    : KernelOptimizer(std::move(parameters), settings, options) {
    check_moments(settings.decoupled ? "adamw" : "adam", settings.beta1, settings.beta2,
                  settings.eps);
}

std::vector<std::string> Adam::state_names() const {
    return settings_.amsgrad ? std::vector<std::string>{"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}
                             : std::vector<std::string>{"exp_avg", "exp_avg_sq"};
}

namespace {

OptimizerDescriptor adam_like(OptimizerDescriptor kind, const AdamOptions& defaults) {
    kind.states = [](const TypedOptions& o) { return o.flag("amsgrad") ? 3 : 2; };
    return with_options<Adam, AdamOptions>(
        std::move(kind), defaults,
        {{learning_rate_option(), &AdamOptions::lr},
         {beta1_option(), &AdamOptions::beta1},
         {beta2_option(), &AdamOptions::beta2},
         {eps_option(), &AdamOptions::eps},
         {weight_decay_option(), &AdamOptions::weight_decay},
         {option(
              "amsgrad", "AMSGrad", {},
              "Divides by the largest running mean so far, so that step sizes never grow again."),
          &AdamOptions::amsgrad}});
}

}  // namespace

OptimizerDescriptor adam_descriptor() {
    return adam_like(
        {.kind = "adam",
         .title = "Adam",
         .summary = "Adapts the step size of every weight to its gradient history. Weight "
                    "decay acts through the gradient.",
         .adam_step = true},
        {});
}

OptimizerDescriptor adamw_descriptor() {
    return adam_like(
        {.kind = "adamw",
         .title = "AdamW",
         .summary = "Adapts the step size of every weight to its gradient history, with "
                    "decoupled weight decay. Works well with little tuning.",
         .adam_step = true,
         .decoupled_decay = true},
        {.weight_decay = 0.01, .decoupled = true});
}

}  // namespace engine
