#pragma once

#include "optim/optimizer.h"

namespace engine {

struct LambOptions {
    double lr = 0.001;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-6;
    double weight_decay = 0.01;
    bool bias_correction = true;
    bool decoupled = true;
    bool average_gradients = true;
    double max_grad_norm = 1;  ///< of all gradients of all groups together; 0: no limit
    bool nvlamb = false;       ///< the trust ratio holds without decay too
};

/// LAMB (You et al. 2020) as optimizers.md#optimizer-formulas (4.3) gives it: Adam's direction, at
/// a rate for each tensor that follows the norms of its weights and of the direction. m and v are
/// f32 also for 16-bit weights.
class Lamb final : public Optimizer {
public:
    /// Throws Error(value) for a beta outside [0, 1), or a negative eps, decay or max_grad_norm.
    Lamb(std::vector<Parameter> parameters, const LambOptions& settings,
         const OptimizerOptions& options = {});

protected:
    std::vector<std::string> state_names() const override;
    void make_state(std::size_t parameter) override;
    void run(std::span<const kernels::UpdateTensor> tensors, const kernels::UpdateScalars& scalars,
             kernels::UpdateCounts* counts) override;

private:
    LambOptions settings_;
};

}  // namespace engine
