#pragma once

#include <span>

#include "kernels/array.h"
#include "kernels/kernel.h"

namespace kernels {

/// Layer-wise rates (optimizers.md#larc, 4.4): before its update a tensor's gradient g becomes
/// (g + decay * p) * rate, rate = trust * norm(p) / (norm(g) + norm(p) * decay + eps), with `clip`
/// min(rate / lr, 1); the update itself then has no decay. Where a norm is 0 the gradient stays.
struct Larc {
    bool on = false;
    bool clip = true;
    double trust = 0.02;
    double eps = 1e-8;
};

/// Device scalars of an update; null pointers mean the neutral value. If *found_inf != 0 nothing is
/// written except zeros to the counts.
struct UpdateScalars {
    const float* lr = nullptr;  ///< required; one a group
    const float* grad_scale =
        nullptr;  ///< gradients are divided by it (multiplied by its f32 reciprocal taken in f64)
    const float* clip = nullptr;  ///< unscaled gradients are multiplied by it
    const float* found_inf = nullptr;
    const std::int64_t* step = nullptr;      ///< number of this update, from 1; one a group
    const std::int64_t* own_step = nullptr;  ///< the parameter's, from 1; one a parameter
    bool write_grads = false;              ///< write the unscaled (clipped, adapted) gradient back
    const double* weight_decay = nullptr;  ///< one a group; null: that of the options
    Larc larc{};
};

/// One parameter with its state. master: the values that are updated (f32, or f64). f16 or bf16
/// weights without a master are their own master, and the arithmetic is in f32 with one rounding.
/// low: optional 16-bit copy of the master, written too.
struct UpdateTensor {
    Array master;
    Array grad;      ///< any floating dtype
    Array state1;    ///< momentum or m; data may be null without momentum; dtype f32 (f64 for f64;
                     ///< f16 for a pure f16 SGD momentum)
    Array state2;    ///< v (Adam, LAMB); NovoGrad: one element, f32 (f64 for f64)
    Array low;       ///< data may be null
    Array state3{};  ///< largest v (Adam with amsgrad)
    int group = 0;   ///< whose lr, step and weight decay hold
    int parameter = 0;        ///< whose own_step holds
    bool behind_low = false;  ///< master of a weight that is stored as low: lost updates count
};

// The options of each optimizer, by the names that settings have. The kernels read the learning
// rate from UpdateScalars; `lr` is what an optimizer begins with.
#define HALFTONE_UPDATE_OPTIONS
#include "kernels/updates.inc"
#undef HALFTONE_UPDATE_OPTIONS

struct LambOptions {
    double lr = 0.001;
    double beta1 = 0.9, beta2 = 0.999, eps = 1e-6, weight_decay = 0.01;
    bool bias_correction = true;
    bool decoupled = true;
    bool average_gradients = true;
    double max_grad_norm = 1;  ///< of all gradients of all groups together; 0: no limit
    bool nvlamb = false;       ///< the trust ratio holds without decay too
};
enum class NormKind : std::uint8_t { l2, largest };
/// Defaults of the paper for image models, whose rate suits a gradient of norm 1.
struct NovoGradOptions {
    double lr = 0.1;
    double beta1 = 0.95, beta2 = 0.98, eps = 1e-8, weight_decay = 0;
    bool bias_correction = true;
    bool average_gradients = true;
    NormKind norm = NormKind::l2;
    bool init_zero = false;          ///< the first norm is averaged with 0 too
    bool regularise_inside = false;  ///< decay and the division by the norm before the momentum
};

/// Counts the non-zero updates of masters that are 16-bit or belong to a 16-bit weight, and those
/// of them that rounded to no change of the master. Updates to or from a non-finite value are not
/// counted.
struct UpdateCounts {
    std::int64_t nonzero;
    std::int64_t lost;
};

/// The file of each optimizer in updates.inc describes what it does. counts may be null and is on
/// the device.
#define HALFTONE_UPDATE(Name, name)                                               \
    using MultiTensor##Name =                                                     \
        void(std::span<const UpdateTensor> tensors, const Name##Options& options, \
             const UpdateScalars& scalars, UpdateCounts* counts, Stream stream);  \
    HALFTONE_KERNEL(MultiTensor##Name, multi_tensor_##name);
#include "kernels/updates.inc"

/// LAMB (optimizers.md#optimizer-formulas, 4.3): gradients divided by max(1, norm of all /
/// max_grad_norm), moments as Adam's, u = (m / c1) / (sqrt(v / c2) + eps) + wd * p, p -= lr *
/// norm(p) / norm(u) * u, with norms of each tensor before the update.
using MultiTensorLamb = void(std::span<const UpdateTensor> tensors, const LambOptions& options,
                             const UpdateScalars& scalars, UpdateCounts* counts, Stream stream);
HALFTONE_KERNEL(MultiTensorLamb, multi_tensor_lamb);

/// NovoGrad (optimizers.md#optimizer-formulas, 4.3): one second moment a tensor, the running norm
/// of its gradient, which starts where own_step is 1. The biases are corrected by the group's step.
using MultiTensorNovoGrad = void(std::span<const UpdateTensor> tensors,
                                 const NovoGradOptions& options, const UpdateScalars& scalars,
                                 UpdateCounts* counts, Stream stream);
HALFTONE_KERNEL(MultiTensorNovoGrad, multi_tensor_novograd);

}  // namespace kernels
