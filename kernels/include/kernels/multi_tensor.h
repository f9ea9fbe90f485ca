#pragma once

#include <span>

#include "kernels/array.h"

namespace kernels {

/// What one pass over all gradients learns (playbook 5, pass A). On the device.
/// Counters are about the gradients as given, that is still scaled, seen as f16 values.
struct Judgement {
    float found_inf;         ///< 0 or 1: a value is not finite
    float abs_max;           ///< largest magnitude (inf or NaN if one is)
    double sum_squares;      ///< of the values as given
    std::int64_t nonzero;    ///< values that are not 0
    std::int64_t to_zero;    ///< non-zero values that f16 would flush to 0 (magnitude <= 2^-25)
    std::int64_t subnormal;  ///< that f16 holds as subnormals
    std::int64_t overflow;   ///< not finite, or >= 65520 in magnitude
    std::int64_t total;
};

/// Reads every gradient once and fills *judgement. Gradients f32, f16, bf16 or f64, mixed.
using MultiTensorJudge = void(Judgement* judgement, std::span<const ConstArray> grads,
                              Stream stream);

/// grads[i] *= *inv_scale, which is on the device (f32 product for 16-bit types, then rounded; f64
/// in f64), in place; *found_inf = 1 where an incoming value is not finite (never set back to 0).
/// inv_scale exactly 1 leaves every bit. All elements are written.
using MultiTensorUnscale = void(std::span<const Array> grads, const float* inv_scale,
                                float* found_inf, Stream stream);

/// Device scalars of an update; null pointers mean the neutral value. When *found_inf != 0 nothing
/// is written but zeros to the counts.
struct UpdateScalars {
    const float* lr = nullptr;  ///< required
    const float* grad_scale =
        nullptr;  ///< gradients are divided by it (multiplied by its f32 reciprocal taken in f64)
    const float* clip = nullptr;  ///< unscaled gradients are multiplied by it
    const float* found_inf = nullptr;
    const std::int64_t* step = nullptr;  ///< number of this update, from 1
    bool write_grads = false;            ///< write the unscaled (and clipped) gradient back
};

/// One parameter with its state. master: the values updated (f32, or f64); for f16 or bf16 weights
/// without master it is the weight itself and the arithmetic is in f32 with one rounding. low:
/// optional 16-bit copy of master, written too.
struct UpdateTensor {
    Array master;
    Array grad;    ///< any floating dtype
    Array state1;  ///< momentum or m; data may be null without momentum; dtype f32 (f64 for f64;
                   ///< f16 for a pure f16 SGD momentum)
    Array state2;  ///< v (Adam)
    Array low;     ///< data may be null
};

struct SgdOptions {
    double momentum = 0, dampening = 0, weight_decay = 0;
    bool nesterov = false;
};
struct AdamOptions {
    double beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
    bool decoupled = true;  ///< AdamW: p -= lr * weight_decay * p first
};

/// Of non-zero updates applied to the stored weights (masters), how many left the stored value
/// unchanged.
struct UpdateCounts {
    std::int64_t nonzero;
    std::int64_t lost;
};

/// SGD as PyTorch's: g += wd * p; buf = first ? g : mu * buf + (1 - dampening) * g; g = nesterov ?
/// g + mu * buf : buf; p -= lr * g. first: a step is given and *step <= 1; without dampening a
/// zeroed buffer comes to the same and is read. counts may be null, is on the device, and only
/// counts for 16-bit masters.
using MultiTensorSgd = void(std::span<const UpdateTensor> tensors, const SgdOptions& options,
                            const UpdateScalars& scalars, UpdateCounts* counts, Stream stream);

/// Adam/AdamW as PyTorch's, bias-corrected: p -= lr * (m / c1) / (sqrt(v / c2) + eps), c = 1 -
/// beta^step; decoupled: p *= 1 - lr * wd before; otherwise g += wd * p.
using MultiTensorAdam = void(std::span<const UpdateTensor> tensors, const AdamOptions& options,
                             const UpdateScalars& scalars, UpdateCounts* counts, Stream stream);

#define HALFTONE_MULTI_TENSOR_KERNELS        \
    MultiTensorJudge multi_tensor_judge;     \
    MultiTensorUnscale multi_tensor_unscale; \
    MultiTensorSgd multi_tensor_sgd;         \
    MultiTensorAdam multi_tensor_adam

namespace cpu {
HALFTONE_MULTI_TENSOR_KERNELS;
}
namespace cuda {
HALFTONE_MULTI_TENSOR_KERNELS;
}
#undef HALFTONE_MULTI_TENSOR_KERNELS

}  // namespace kernels
