#include "cuda/conv2d_operands.h"

#include "kernels/cuda_device.h"
#include "kernels/elementwise.h"

namespace kernels::cuda {
namespace {

using Dims = decltype(Strided::shape);

/// Extents of the weights: K, C / groups, and pixels.
Dims extents(const Conv2dShape& s) { return {s.k, s.c / s.groups, s.r * s.s}; }

/// Distances along these, pixel by pixel, each of `channels` values.
Dims by_pixel(const Conv2dShape& s, std::int64_t channels) {
    return {channels * s.r * s.s, 1, channels};
}

Dims callers_strides(const Conv2dShape& s) {
    const std::int64_t channels = s.c / s.groups, pixels = s.r * s.s;
    return s.channels_last_weights ? by_pixel(s, channels) : Dims{channels * pixels, pixels, 1};
}

}  // namespace

Conv2dShape padded_shape(const Conv2dShape& shape, DType dtype) {
    Conv2dShape padded = shape;
    if (shape.groups == 1) padded.c = padded_channels(dtype, shape.c);
    return padded;
}

void pad_pixels(void* to, std::int64_t channels, ConstArray x, const Conv2dShape& s,
                Stream stream) {
    const std::int64_t pixels = s.n * s.h * s.w;
    set_zero(to, bytes_of(pixels * channels, x.dtype), stream);
    copy_strided({to, x.dtype, 2, {pixels, s.c}, {channels, 1}},
                 {x.data, x.dtype, 2, {pixels, s.c}, {s.c, 1}}, stream);
}

/// PyTorch's order, (K, C, R, S), is the same memory if there is only one pixel or one channel.
bool WeightCopy::differs() const {
    return is_padded() || (!s_.channels_last_weights && s_.r * s_.s > 1 && s_.c / s_.groups > 1);
}

void WeightCopy::to_library(void* to, const void* from) const {
    if (!differs()) return copy_on_device(to, from, bytes_of(weight_size(s_), dtype_), stream_);
    if (is_padded())
        set_zero(to, bytes_of(s_.k * library_channels_ * s_.r * s_.s, dtype_), stream_);
    copy_strided({to, dtype_, 3, extents(s_), by_pixel(s_, library_channels_)},
                 {from, dtype_, 3, extents(s_), callers_strides(s_)}, stream_);
}

void WeightCopy::from_library(void* to, const void* from) const {
    if (!differs()) return copy_on_device(to, from, bytes_of(weight_size(s_), dtype_), stream_);
    copy_strided({to, dtype_, 3, extents(s_), callers_strides(s_)},
                 {from, dtype_, 3, extents(s_), by_pixel(s_, library_channels_)}, stream_);
}

}  // namespace kernels::cuda
