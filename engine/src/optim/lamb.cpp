#include "optim/optimizers.h"

#include "optim/optimizer_descriptor.h"

namespace engine {

Lamb::Lamb(std::vector<Parameter> parameters, const LambOptions& settings,
           const OptimizerOptions& options)
    : KernelOptimizer(std::move(parameters), settings, options) {
    check_moments("lamb", settings.beta1, settings.beta2, settings.eps);
    if (!(settings.max_grad_norm >= 0))
        throw Error(ErrorCode::value, "lamb: max_grad_norm must not be negative");
}

std::vector<std::string> Lamb::state_names() const { return {"exp_avg", "exp_avg_sq"}; }

OptimizerDescriptor lamb_descriptor() {
    return with_options<Lamb, LambOptions>(
        {.kind = "lamb",
         .title = "LAMB",
         .summary =
             "Adam's direction with a layer-wise rate that follows the weight norm. For very large "
             "batches.",
         .states = [](const TypedOptions&) { return 2; }},
        // A trust ratio scales the rate, so runs of a few hundred steps need a larger one than the
        // class, which has that of apex.
        {.lr = 0.01},
        {{learning_rate_option(), &LambOptions::lr},
         {beta1_option(), &LambOptions::beta1},
         {beta2_option(), &LambOptions::beta2},
         {eps_option(), &LambOptions::eps},
         {weight_decay_option(), &LambOptions::weight_decay},
         {option("max_grad_norm", "Max grad norm", {},
                 "LAMB clips the norm of all gradients together to this value (0 = no limit).",
                 opt::at_least(0), opt::fits_f32),
          &LambOptions::max_grad_norm},
         {option("nvlamb", "NVLAMB", {},
                 "Applies LAMB's layer-wise rate to weights without decay too."),
          &LambOptions::nvlamb}});
}

}  // namespace engine
