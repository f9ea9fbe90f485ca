#pragma once

#include "ops/conv/conv_parts.h"
#include "ops/conv/convolution.h"
#include "ops/shape/window.h"

namespace engine {

// From sequences, images and volumes of any rank to the parts that convolutions are made of.

/// A sequence as an image of one row, (a, b, l) as (a, b, 1, l), and a result back; others stay.
Tensor conv_raised(const Tensor& x, int dims);
Tensor conv_lowered(const Tensor& y, int dims);

/// The shape of the parts: n and c of the larger side, x of the convolution, with sizes `in`.
ConvShape conv_shape(std::int64_t n, std::int64_t c, const Shape& in, const Tensor& weight,
                     const Steps& by, std::int64_t groups);

/// A bias, if there, has `size` elements.
void check_conv_bias(const Op& info, const Tensor& bias, const Tensor& weight,
                     std::int64_t size);

}  // namespace engine
