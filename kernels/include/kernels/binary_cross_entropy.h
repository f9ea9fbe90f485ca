#pragma once

#include "kernels/array.h"
#include "kernels/kernel.h"

namespace kernels {

/// losses[i] = (1 - t) x - log_sigmoid(x) of logit x[i] and target t[i], with the bits of the
/// single elementwise functions: ((-t + 1) * x) - (min(x, 0) - log1p(exp(-|x|))). All f32.
using LogitsLoss = void(Array losses, ConstArray x, ConstArray target, Stream stream);
HALFTONE_CUDA_KERNEL(LogitsLoss, logits_loss);

/// Its gradient dx[i] = dy (1 - t) - dy sigmoid(-x), with the bits of the single functions. dy has
/// the size of x or one element. All f32.
using LogitsLossBackward = void(Array dx, ConstArray dy, ConstArray x, ConstArray target,
                                Stream stream);
HALFTONE_CUDA_KERNEL(LogitsLossBackward, logits_loss_backward);

}  // namespace kernels
