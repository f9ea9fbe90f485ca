#pragma once

#include <memory>

#include "amp/recipe.h"
#include "ops/conv/conv_parts.h"

namespace engine {

/// The layer of the open module, if its recipe covers convolutions, while a recipe holds. Null: they
/// are not quantised.
std::shared_ptr<QuantizedLayer> quantized_convolution_layer();

/// As convolve(), of images, by codes with one scale a tensor: decoded to f32, in which they and their
/// products are exact, convolved, and scaled. `own`: the weight from which autocast cast `weight`.
Tensor quantized_convolution(const Op& info, std::shared_ptr<QuantizedLayer> layer, const Tensor& x,
                             const Tensor& weight, const Tensor& own, const Tensor& bias,
                             const ConvShape& s);

}  // namespace engine
