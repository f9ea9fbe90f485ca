#pragma once

#include "optim/optimizer.h"

// The optimizers with all settings of their formulas (optimizers.md#optimizer-formulas, 4.3). A run
// offers those that the descriptors in their sources name.
namespace engine {

using kernels::AdagradOptions;
using kernels::AdamOptions;
using kernels::LambOptions;
using kernels::NovoGradOptions;
using kernels::SgdOptions;

/// An optimizer that updates all its tensors by one call of a kernel, on either device.
template <typename Settings, auto on_cpu, auto on_cuda>
class KernelOptimizer : public Optimizer {
protected:
    KernelOptimizer(std::vector<Parameter> parameters, const Settings& settings,
                    const OptimizerOptions& options)
        : Optimizer(std::move(parameters), options, settings.lr, settings.weight_decay),
          settings_(settings) {}
    void run(std::span<const kernels::UpdateTensor> tensors, const kernels::UpdateScalars& scalars,
             kernels::UpdateCounts* counts) override {
        on(lr_.device(), on_cpu, on_cuda)(tensors, settings_, scalars, counts, current_stream());
    }

    Settings settings_;
};

/// Stochastic gradient descent with momentum, as in PyTorch (optimizers.md#optimizer-formulas,
/// 4.3). With master weights the 16-bit gradients are read as they are: no f32 gradients are made.
///
/// Accepts sparse gradients (ops/index/sparse.h) without weight decay. A plain step coalesces the
/// gradient, and reads and writes only the rows that it names. The gradient is made dense with
/// momentum, which moves every row that ever had a gradient, under LARC, and for a weight that is
/// not row-major.
class Sgd final : public KernelOptimizer<SgdOptions, kernels::cpu::multi_tensor_sgd,
                                         kernels::cuda::multi_tensor_sgd> {
public:
    /// Throws Error(value) for a negative setting, or Nesterov without momentum or with dampening.
    Sgd(std::vector<Parameter> parameters, const SgdOptions& settings,
        const OptimizerOptions& options = {});
    /// True without momentum, weight decay and LARC.
    bool takes_sparse_gradients() const override;

protected:
    void collect(std::size_t parameter, std::vector<kernels::UpdateTensor>& tensors) override;
    std::vector<std::string> state_names() const override;
    void make_state(std::size_t parameter) override;
};

/// Adam (Kingma & Ba 2015) as PyTorch's, and AdamW (Loshchilov & Hutter 2019) if the weight decay
/// is decoupled; otherwise it is added to the gradient. m and v are f32 also for 16-bit weights;
/// with amsgrad (Reddi et al. 2018) the largest v so far divides.
class Adam final : public KernelOptimizer<AdamOptions, kernels::cpu::multi_tensor_adam,
                                          kernels::cuda::multi_tensor_adam> {
public:
    /// Throws Error(value) for a beta outside [0, 1), or a negative eps or weight decay.
    Adam(std::vector<Parameter> parameters, const AdamOptions& settings,
         const OptimizerOptions& options = {});
    double eps() const { return settings_.eps; }
    /// Takes effect at the next step.
    void set_eps(double eps) { settings_.eps = eps; }

protected:
    std::vector<std::string> state_names() const override;
};

/// Adagrad (Duchi et al. 2011) as in PyTorch. The rate of every weight falls with the sum of its
/// squared gradients, which is f32 also for 16-bit weights. For a sparse gradient
/// (ops/index/sparse.h), without weight decay, it reads and writes only the named rows. Under LARC,
/// and for a weight that is not row-major, the gradient is made dense.
class Adagrad final : public KernelOptimizer<AdagradOptions, kernels::cpu::multi_tensor_adagrad,
                                             kernels::cuda::multi_tensor_adagrad> {
public:
    /// Throws Error(value) for a negative setting.
    Adagrad(std::vector<Parameter> parameters, const AdagradOptions& settings,
            const OptimizerOptions& options = {});
    /// True without weight decay and LARC.
    bool takes_sparse_gradients() const override;

protected:
    void collect(std::size_t parameter, std::vector<kernels::UpdateTensor>& tensors) override;
    std::vector<std::string> state_names() const override;
    void make_state(std::size_t parameter) override;
};

/// LAMB (You et al. 2020) as optimizers.md#optimizer-formulas (4.3) gives it: Adam's direction, at
/// a rate for each tensor that follows the norms of its weights and of the direction. m and v are
/// f32 also for 16-bit weights.
class Lamb final : public KernelOptimizer<LambOptions, kernels::cpu::multi_tensor_lamb,
                                          kernels::cuda::multi_tensor_lamb> {
public:
    /// Throws Error(value) for a beta outside [0, 1), or a negative eps, decay or max_grad_norm.
    Lamb(std::vector<Parameter> parameters, const LambOptions& settings,
         const OptimizerOptions& options = {});

protected:
    std::vector<std::string> state_names() const override;
};

/// NovoGrad (Ginsburg et al. 2019) as optimizers.md#optimizer-formulas (4.3) gives it: Adam with
/// one second moment a tensor, the running norm of its gradient ("norm" in the state; m and norm
/// are f32 also for 16-bit weights).
class NovoGrad final : public KernelOptimizer<NovoGradOptions, kernels::cpu::multi_tensor_novograd,
                                              kernels::cuda::multi_tensor_novograd> {
public:
    /// Throws Error(value) for a beta outside [0, 1), or a negative eps or weight decay.
    NovoGrad(std::vector<Parameter> parameters, const NovoGradOptions& settings,
             const OptimizerOptions& options = {});

protected:
    std::vector<std::string> state_names() const override;
    void make_state(std::size_t parameter) override;
};

/// Adam for sparse gradients (ops/index/sparse.h), as in PyTorch: only the rows that a gradient
/// names are updated, including their moments; eps is added to sqrt(v) before the bias correction.
/// The gradient is coalesced first and stays so. It combines two optimizers: PyTorch's SparseAdam
/// for parameters with sparse gradients and its Adam for the rest; under LARC Adam for all.
class SparseAdam final : public Optimizer {
public:
    /// Throws Error(value) for a beta outside [0, 1), or a negative eps.
    SparseAdam(std::vector<Parameter> parameters, const AdamOptions& settings,
               const OptimizerOptions& options = {});
    bool takes_sparse_gradients() const override { return !options_.larc.on; }

protected:
    /// Collects the rows of a sparse gradient. Throws Error(value) for weights with one that are
    /// not row-major.
    void collect(std::size_t parameter, std::vector<kernels::UpdateTensor>& tensors) override;
    std::vector<std::string> state_names() const override;
    void run(std::span<const kernels::UpdateTensor> tensors, const kernels::UpdateScalars& scalars,
             kernels::UpdateCounts* counts) override;

private:
    AdamOptions settings_;
    std::vector<kernels::UpdateTensor> dense_, sparse_;  // of one step
};

}  // namespace engine
