#pragma once

#include "optim/optimizer.h"

namespace engine {

struct AdamOptions {
    double lr = 0.001;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-8;
    double weight_decay = 0;
    bool amsgrad = false;
    bool bias_correction = true;
};

/// Adam (Kingma & Ba 2015) as PyTorch's: the weight decay is added to the gradient. m and v are f32
/// also for 16-bit weights; with amsgrad (Reddi et al. 2018) the largest v so far divides.
class Adam : public Optimizer {
public:
    /// Throws Error(value) for a beta outside [0, 1), or a negative eps or weight decay.
    Adam(std::vector<Parameter> parameters, const AdamOptions& settings,
         const OptimizerOptions& options = {});
    double eps() const { return settings_.eps; }
    /// Takes effect at the next step.
    void set_eps(double eps) { settings_.eps = eps; }

protected:
    Adam(std::vector<Parameter> parameters, const AdamOptions& settings,
         const OptimizerOptions& options, bool decoupled);
    std::vector<std::string> state_names() const override;
    void make_state(std::size_t parameter) override;
    void run(std::span<const kernels::UpdateTensor> tensors, const kernels::UpdateScalars& scalars,
             kernels::UpdateCounts* counts) override;

private:
    AdamOptions settings_;
    bool decoupled_;
};

}  // namespace engine
