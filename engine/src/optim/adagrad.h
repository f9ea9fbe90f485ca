#pragma once

#include "optim/optimizer.h"

namespace engine {

struct AdagradOptions {
    double lr = 0.01;
    double lr_decay = 0;
    double weight_decay = 0;
    double initial_accumulator_value = 0;
    double eps = 1e-10;
    /// The decay stays out of the accumulator (optimizers.md#optimizer-formulas, 4.3).
    bool decoupled = false;
};

/// Adagrad (Duchi et al. 2011) as in PyTorch. The rate of every weight falls with the sum of its
/// squared gradients, which is f32 also for 16-bit weights. For a sparse gradient
/// (ops/index/sparse.h), without weight decay, it reads and writes only the named rows. Under LARC,
/// and for a weight that is not row-major, the gradient is made dense.
class Adagrad final : public Optimizer {
public:
    /// Throws Error(value) for a negative setting.
    Adagrad(std::vector<Parameter> parameters, const AdagradOptions& settings,
            const OptimizerOptions& options = {});
    /// Without weight decay and LARC.
    bool takes_sparse_gradients() const override;

protected:
    /// Throws Error(value) for a sparse gradient with weight decay.
    void collect(std::size_t parameter, std::vector<kernels::UpdateTensor>& tensors) override;
    std::vector<std::string> state_names() const override;
    void make_state(std::size_t parameter) override;
    void run(std::span<const kernels::UpdateTensor> tensors, const kernels::UpdateScalars& scalars,
             kernels::UpdateCounts* counts) override;

private:
    AdagradOptions settings_;
};

}  // namespace engine
