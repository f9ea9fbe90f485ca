#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo max_unpool2d_info, max_unpool3d_info;

// Puts the values of a max pool back where they came from, into zeros of size `size`. x and indices
// (i64) are (N, C, H, W) or (N, C, D, H, W), or without N. The last of several at one place stays,
// and each gets the gradient of that place. An out-of-range index is Error(value), on a GPU at the
// next read (tensor/check_values.h).

Tensor max_unpool2d(const Tensor& x, const Tensor& indices, const std::vector<std::int64_t>& size);
Tensor max_unpool3d(const Tensor& x, const Tensor& indices, const std::vector<std::int64_t>& size);

}  // namespace engine
