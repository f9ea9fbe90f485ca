#pragma once

#include "optim/adam.h"

namespace engine {

struct AdamWOptions {
    double lr = 0.001;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-8;
    double weight_decay = 0.01;
    bool amsgrad = false;
    bool bias_correction = true;
};

/// Adam with decoupled weight decay (Loshchilov & Hutter 2019), as PyTorch's.
class AdamW final : public Adam {
public:
    /// Throws Error(value) for a beta outside [0, 1), or a negative eps or weight decay.
    AdamW(std::vector<Parameter> parameters, const AdamWOptions& settings,
          const OptimizerOptions& options = {});
};

}  // namespace engine
