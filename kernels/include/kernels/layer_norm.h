#pragma once

#include "kernels/array.h"
#include "kernels/kernel.h"

namespace kernels {

/// x seen as (rows, cols); each row is normalised by itself. With `rms` the mean is assumed to be
/// 0, which gives the root mean square alone.
struct LayerNormShape {
    std::int64_t rows, cols;
    double eps = 1e-5;
    bool rms = false;
};

/// y[r,c] = (x[r,c] - mean[r]) * rstd[r] * weight[c] + bias[c], rstd = 1 / sqrt(var + eps) with the
/// biased variance of the row. The variance sums deviations from the mean of a first pass (no
/// cancellation for mean 100, deviation 0.01).
///
/// x f64, f32, f16 or bf16; y of x's dtype, or f32 for 16-bit x. weight, bias (cols), mean, rstd
/// (rows): f32 (f64 for f64 x); weight.data and bias.data may be null (1 and 0), with `rms`
/// mean.data too. Sums in f32 (f64 for f64), one rounding at the store. y may be x if the dtypes
/// are equal.
using LayerNormForward = void(Array y, Array mean, Array rstd, ConstArray x, ConstArray weight,
                              ConstArray bias, const LayerNormShape& shape, Stream stream);
HALFTONE_KERNEL(LayerNormForward, layer_norm_forward);

/// With g = dy * weight and xhat = (x - mean) * rstd: dx = rstd * (g - mean_c g - xhat * mean_c(g *
/// xhat)), without mean_c g for `rms`; dweight = sum_r dy * xhat, dbias = sum_r dy, in a fixed
/// order. dx of x's dtype; dy of y's dtype in the forward pass; the others as there. dweight.data
/// and dbias.data may be null. dx may be dy or x if the dtypes are equal and both weight gradients
/// are null.
using LayerNormBackward = void(Array dx, Array dweight, Array dbias, ConstArray dy, ConstArray x,
                               ConstArray weight, ConstArray mean, ConstArray rstd,
                               const LayerNormShape& shape, Stream stream);
HALFTONE_KERNEL(LayerNormBackward, layer_norm_backward);

// A residual sum and its layer norm in one pass over memory, with the bits of the single steps; on
// a GPU where all operands are aligned alike.

/// sum = x + around, rounded once to sum's dtype, and y, mean and rstd of it as in
/// layer_norm_forward. sum, around and y of one dtype, f32, f16 or bf16; x of the same, or 16-bit
/// beside f32. sum may be x or around if the dtypes are equal. Not for `rms`.
using AddLayerNormForward = void(Array sum, Array y, Array mean, Array rstd, ConstArray x,
                                 ConstArray around, ConstArray weight, ConstArray bias,
                                 const LayerNormShape& shape, Stream stream);
HALFTONE_KERNEL(AddLayerNormForward, add_layer_norm_forward);

/// dsum = dx of layer_norm_backward for the input `sum`, rounded, plus `beside`: the gradient of
/// the sum's other uses, which may be null. dx: dsum once more, in the dtype of a 16-bit x beside
/// an f32 sum; else null. The other arguments as in layer_norm_backward. dsum is none of the
/// inputs.
struct AddLayerNormGradients {
    Array dsum, dx, dweight, dbias;
};
using AddLayerNormBackward = void(const AddLayerNormGradients& to, ConstArray beside, ConstArray dy,
                                  ConstArray sum, ConstArray weight, ConstArray mean,
                                  ConstArray rstd, const LayerNormShape& shape, Stream stream);
HALFTONE_KERNEL(AddLayerNormBackward, add_layer_norm_backward);

}  // namespace kernels
