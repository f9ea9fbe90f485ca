#include "tensor/layout.h"

#include "engine/base/error.h"
#include "kernels/elementwise.h"

namespace engine {
namespace {

/// Throws Error(shape) if a walk from element `offset` on leaves x's memory.
void check_inside(const Tensor& x, const Shape& shape, const Strides& strides,
                  std::int64_t offset) {
    if (shape.numel() == 0 || x.is_sparse()) return;
    std::int64_t first = offset, last = offset;
    for (int i = 0; i < shape.rank(); ++i) {
        std::int64_t& end = strides[i] < 0 ? first : last;
        end = checked_sum(end, checked_product(shape[i] - 1, strides[i]));
    }
    const auto held =
        static_cast<std::int64_t>(x.impl()->storage->block.bytes() / size_of(x.dtype()));
    if (first < 0 || last >= held) {
        throw Error(ErrorCode::shape, "a view of shape " + to_string(shape) + " and strides " +
                                          to_string(strides) + " leaves its memory of " +
                                          std::to_string(held) + " elements");
    }
}

}  // namespace

bool is_dense(const Tensor& x) { return x.is_contiguous() || x.is_channels_last(); }

Layout layout_of(const Tensor& x) {
    return !x.is_contiguous() && x.is_channels_last() ? Layout::channels_last : Layout::contiguous;
}

Tensor dense(const Tensor& x) { return is_dense(x) ? x : in_layout(x, Layout::contiguous); }

Tensor in_layout(const Tensor& x, Layout layout) {
    if (layout == Layout::channels_last ? x.is_channels_last() : x.is_contiguous()) return x;
    Tensor y = Tensor::empty(x.shape(), x.dtype(), x.device(), layout);
    copy_into(y, x);
    return y;
}

Tensor row_major(const Tensor& x) { return x.defined() ? in_layout(x, Layout::contiguous) : x; }

Tensor row_major_copy(const Tensor& x) {
    const Tensor y = Tensor::empty(x.shape(), x.dtype(), x.device());
    copy_into(y, x);
    return y;
}

Tensor empty_like(const Tensor& x, DType dtype) {
    return Tensor::empty(x.shape(), dtype, x.device(), layout_of(x));
}

Tensor view_of(const Tensor& x, const Shape& shape, const Strides& strides, std::int64_t offset) {
    check_shape(shape);
    check_inside(x, shape, strides, offset);
    Tensor y = x.detach();
    y.impl()->shape = shape;
    y.impl()->strides = strides;
    y.impl()->offset = offset;
    return y;
}

void copy_into(const Tensor& y, const Tensor& x) {
    const kernels::Strided to{y.data(), y.dtype(), y.rank(), y.shape().values(),
                              y.strides().values()};
    const kernels::ConstStrided from{x.data(), x.dtype(), x.rank(), x.shape().values(),
                                     x.strides().values()};
    on(y.device(), kernels::cpu::copy_strided, kernels::cuda::copy_strided)(to, from,
                                                                            current_stream());
}

Tensor expanded_view(const Tensor& x, const Shape& shape) {
    Strides strides = shape;
    const int lead = shape.rank() - x.rank();
    for (int i = 0; i < shape.rank(); ++i) {
        strides[i] =
            i < lead || (x.size(i - lead) == 1 && shape[i] != 1) ? 0 : x.strides()[i - lead];
    }
    return view_of(x, shape, strides, x.impl()->offset);
}

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
