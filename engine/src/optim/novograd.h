#pragma once

#include "optim/optimizer.h"

namespace engine {

/// Defaults of the paper for image models, whose rate suits a gradient of norm 1.
struct NovoGradOptions {
    double lr = 0.1;
    double beta1 = 0.95;
    double beta2 = 0.98;
    double eps = 1e-8;
    double weight_decay = 0;
    bool bias_correction = true;
    bool average_gradients = true;
    kernels::NormKind norm = kernels::NormKind::l2;
    bool init_zero = false;          ///< the first norm is averaged with 0 too
    bool regularise_inside = false;  ///< decay and division by the norm before the momentum
};

/// NovoGrad (Ginsburg et al. 2019) as optimizers.md#optimizer-formulas (4.3) gives it: Adam with
/// one second moment a tensor, the running norm of its gradient ("norm" in the state; m and norm
/// are f32 also for 16-bit weights).
class NovoGrad final : public Optimizer {
public:
    /// Throws Error(value) for a beta outside [0, 1), or a negative eps or weight decay.
    NovoGrad(std::vector<Parameter> parameters, const NovoGradOptions& settings,
             const OptimizerOptions& options = {});

protected:
    std::vector<std::string> state_names() const override;
    void make_state(std::size_t parameter) override;
    void run(std::span<const kernels::UpdateTensor> tensors, const kernels::UpdateScalars& scalars,
             kernels::UpdateCounts* counts) override;

private:
    NovoGradOptions settings_;
};

}  // namespace engine
