#pragma once

#include "optim/optimizer.h"

namespace engine {

struct SparseAdamOptions {
    double lr = 0.001;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-8;
    bool dense = false;  ///< parameters with a dense gradient are updated as Adam's
};

/// Adam for sparse gradients (ops/index/sparse.h), as in PyTorch: only the rows that a gradient
/// names are updated, including their moments; eps is added to sqrt(v) before the bias correction.
/// The gradient is coalesced first and stays so. With `dense` it combines two optimizers: PyTorch's
/// SparseAdam for the tables and its Adam for the rest; under LARC Adam for all.
class SparseAdam final : public Optimizer {
public:
    /// Throws Error(value) for a beta outside [0, 1), or a negative eps; with LARC, whose norms are
    /// of whole tensors, unless it takes dense gradients.
    SparseAdam(std::vector<Parameter> parameters, const SparseAdamOptions& settings,
               const OptimizerOptions& options = {});
    bool takes_sparse_gradients() const override { return !options_.larc.on; }

protected:
    /// Collects the rows. Throws Error(value) for a dense gradient, unless `dense`, and for weights
    /// that are not row-major.
    void collect(std::size_t parameter, std::vector<kernels::UpdateTensor>& tensors) override;
    std::vector<std::string> state_names() const override;
    void make_state(std::size_t parameter) override;
    void run(std::span<const kernels::UpdateTensor> tensors, const kernels::UpdateScalars& scalars,
             kernels::UpdateCounts* counts) override;

private:
    SparseAdamOptions settings_;
    std::vector<kernels::UpdateTensor> dense_, sparse_;  // of one step
};

}  // namespace engine
