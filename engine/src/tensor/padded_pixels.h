#pragma once

#include "tensor/tensor.h"

namespace engine {

/// Images (N, C, H, W) in the form in which a GPU's convolutions read them: NHWC, with zeros behind
/// the channels of each pixel up to `pitch` values (kernels::padded_channels). For all other ops
/// they are a strided view. All zeros; writers leave the zeros behind the channels as they are.
Tensor empty_padded_pixels(const Shape& shape, DType dtype, const Device& device,
                           std::int64_t pitch);

/// Values from one pixel to the next of images that were made so; 0 for other tensors, and for
/// views of less than their channels.
std::int64_t pixel_pitch(const Tensor& x);

}  // namespace engine
