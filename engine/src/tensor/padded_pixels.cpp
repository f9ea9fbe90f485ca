#include "tensor/padded_pixels.h"

namespace engine {
namespace {

Strides padded_strides(const Shape& shape, std::int64_t pitch) {
    return {shape[2] * shape[3] * pitch, 1, shape[3] * pitch, pitch};
}

}  // namespace

Tensor empty_padded_pixels(const Shape& shape, DType dtype, const Device& device,
                           std::int64_t pitch) {
    const Tensor images = Tensor::zeros({shape[0], shape[2], shape[3], pitch}, dtype, device);
    images.impl()->shape = shape;
    images.impl()->strides = padded_strides(shape, pitch);
    images.impl()->storage->padding = {shape[1], pitch};
    return images;
}

std::int64_t pixel_pitch(const Tensor& x) {
    const PixelPadding padding = x.impl()->storage->padding;
    const bool is_whole = padding.pitch > 0 && x.rank() == 4 && x.size(1) == padding.channels &&
                          x.impl()->offset == 0 &&
                          x.strides() == padded_strides(x.shape(), padding.pitch);
    return is_whole ? padding.pitch : 0;
}

}  // namespace engine
