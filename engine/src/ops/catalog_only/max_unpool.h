#pragma once

#include "tensor/tape.h"

namespace engine {

// Puts the values of a max pool back where they came from, into zeros of size `size`. x and indices
// (i64) are (N, C, H, W) or (N, C, D, H, W), or without N. The last of several at one place stays,
// and each gets the gradient of that place. An out-of-range index is Error(value), on a GPU at the
// next read (tensor/check_values.h).

inline constexpr const char* puts_back = "Copies values: nothing is lost in its input's type.";

Tensor max_unpool2d(const Tensor& x, const Tensor& indices, const std::vector<std::int64_t>& size);
/// By output_size, or the size that a pool with these options made x from.
TensorList max_unpool_by_name(const Op& op, const OpArguments& args);
inline constexpr Op max_unpool2d_op(
    CastPolicy::none,
    "max_unpool2d(x, indices; output_size=None, kernel_size=2, stride=None, padding=0)", puts_back,
    max_unpool_by_name, {.forceable = false});
Tensor max_unpool3d(const Tensor& x, const Tensor& indices, const std::vector<std::int64_t>& size);
inline constexpr Op max_unpool3d_op(
    CastPolicy::none,
    "max_unpool3d(x, indices; output_size=None, kernel_size=2, stride=None, padding=0)", puts_back,
    max_unpool_by_name, {.forceable = false});

}  // namespace engine
