#pragma once

#include "tensor/tape.h"
#include "tensor/tensor.h"

// Memory walks for ops; none of these is recorded.
namespace engine {

/// True if one dense run in row-major or NHWC order.
bool is_dense(const Tensor& x);
/// Channels last if x is (and is not row-major as well), else contiguous.
Layout layout_of(const Tensor& x);
/// x, or a dense copy of it in row-major order if it is neither contiguous nor channels last.
Tensor dense(const Tensor& x);
/// x, or a copy of it in this layout. Channels last needs rank 4.
Tensor in_layout(const Tensor& x, Layout layout);
/// x, or a copy of it in row-major order; undefined stays undefined.
Tensor row_major(const Tensor& x);
/// A copy of x in row-major order, outside any graph.
Tensor row_major_copy(const Tensor& x);
/// Uninitialised, x's shape and layout.
Tensor empty_like(const Tensor& x, DType dtype);
inline Tensor empty_like(const Tensor& x) { return empty_like(x, x.dtype()); }
/// A view of x's storage with another shape and strides, outside any graph. Shares the version.
/// Throws Error(shape) for a shape that check_shape() rejects, and for elements outside the
/// storage.
Tensor view_of(const Tensor& x, const Shape& shape, const Strides& strides, std::int64_t offset);
/// Copies x into y (same shape and dtype, any strides).
void copy_into(const Tensor& y, const Tensor& x);
/// View of x with broadcast (stride 0) dimensions. x must broadcast to shape.
Tensor expanded_view(const Tensor& x, const Shape& shape);

/// Images (N, C, H, W) in the form in which a GPU's convolutions read them: NHWC, with zeros behind
/// the channels of each pixel up to `pitch` values (kernels::padded_channels). For all other ops
/// they are a strided view. All zeros; writers leave the zeros behind the channels as they are.
Tensor empty_padded_pixels(const Shape& shape, DType dtype, const Device& device,
                           std::int64_t pitch);

/// Values from one pixel to the next of images that were made so; 0 for other tensors, and for
/// views of less than their channels.
std::int64_t pixel_pitch(const Tensor& x);

}  // namespace engine
