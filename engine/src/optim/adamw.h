#pragma once

#include "optim/optimizer.h"

namespace engine {

struct AdamWOptions {
    double lr = 0.001;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-8;
    double weight_decay = 0.01;
};

/// Adam with decoupled weight decay (Loshchilov & Hutter 2019), as PyTorch's. m and v are f32 also
/// for 16-bit weights.
class AdamW final : public Optimizer {
public:
    /// Throws Error(value) for a beta outside [0, 1), or a negative eps or weight decay.
    AdamW(std::vector<Parameter> parameters, const AdamWOptions& settings,
          const OptimizerOptions& options = {});
    std::vector<std::pair<std::string, Tensor>> state(std::size_t parameter) const override;

protected:
    void make_state(std::size_t parameter) override;
    void run(std::span<const kernels::UpdateTensor> tensors, const kernels::UpdateScalars& scalars,
             kernels::UpdateCounts* counts) override;

private:
    AdamWOptions settings_;
};

}  // namespace engine
