#pragma once

#include "optim/optimizer.h"

namespace engine {

struct SgdOptions {
    double lr = 0.05;
    double momentum = 0;
    double dampening = 0;
    double weight_decay = 0;
    bool nesterov = false;
    /// The decay stays out of the momentum (optimizers.md#optimizer-formulas, 4.3).
    bool decay_after_momentum = false;
};

/// Stochastic gradient descent with momentum, as in PyTorch (optimizers.md#optimizer-formulas,
/// 4.3). With master weights the 16-bit gradients are read as they are: no f32 gradients are made.
///
/// Accepts sparse gradients (ops/index/sparse.h) without weight decay. A plain step coalesces the
/// gradient, and reads and writes only the rows that it names. The gradient is made dense with
/// momentum, which moves every row that ever had a gradient, under LARC, and for a weight that is
/// not row-major.
class Sgd final : public Optimizer {
public:
    /// Throws Error(value) for a negative setting, or Nesterov without momentum or with dampening.
    Sgd(std::vector<Parameter> parameters, const SgdOptions& settings,
        const OptimizerOptions& options = {});
    /// Without momentum, weight decay and LARC.
    bool takes_sparse_gradients() const override;

protected:
    /// Throws Error(value) for a sparse gradient with weight decay.
    void collect(std::size_t parameter, std::vector<kernels::UpdateTensor>& tensors) override;
    std::vector<std::string> state_names() const override;
    void make_state(std::size_t parameter) override;
    void run(std::span<const kernels::UpdateTensor> tensors, const kernels::UpdateScalars& scalars,
             kernels::UpdateCounts* counts) override;

private:
    SgdOptions settings_;
};

}  // namespace engine
