#pragma once

#include "optim/optimizer.h"

namespace engine {

struct SgdOptions {
    double lr = 0.05;
    double momentum = 0;
    double dampening = 0;
    double weight_decay = 0;
    bool nesterov = false;
    bool decay_after_momentum = false;  ///< the decay stays out of the momentum (4.3)
};

/// Stochastic gradient descent with momentum, as PyTorch's (amp-semantics.md, 4.3 FusedSGD). With
/// master weights the 16-bit gradients are read as they are: no f32 gradients are made.
class Sgd final : public Optimizer {
public:
    /// Throws Error(value) for a negative setting, or Nesterov without momentum or with dampening.
    Sgd(std::vector<Parameter> parameters, const SgdOptions& settings,
        const OptimizerOptions& options = {});

protected:
    std::vector<std::string> state_names() const override;
    void make_state(std::size_t parameter) override;
    void run(std::span<const kernels::UpdateTensor> tensors, const kernels::UpdateScalars& scalars,
             kernels::UpdateCounts* counts) override;

private:
    SgdOptions settings_;
};

}  // namespace engine
