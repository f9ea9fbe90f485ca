#include "optim/adamw.h"

namespace engine {

AdamW::AdamW(std::vector<Parameter> parameters, const AdamWOptions& settings,
             const OptimizerOptions& options)
    : Adam(std::move(parameters),
           AdamOptions{settings.lr, settings.beta1, settings.beta2, settings.eps,
                       settings.weight_decay, settings.amsgrad, settings.bias_correction},
           options, true) {}

}  // namespace engine
