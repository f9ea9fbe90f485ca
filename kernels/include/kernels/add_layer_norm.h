#pragma once

#include "kernels/kernel.h"
#include "kernels/layer_norm.h"

// A residual sum and its layer norm in one pass over memory, with the bits of the single steps; on
// a GPU where all operands are aligned alike.
namespace kernels {

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
