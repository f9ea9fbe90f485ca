#pragma once

#include "optim/optimizer.h"

// The optimizers with all settings of their formulas (optimizers.md#optimizer-formulas, 4.3). A run
// offers those that the descriptors in their sources name.
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
    /// True without momentum, weight decay and LARC.
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
    /// True without weight decay and LARC.
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
