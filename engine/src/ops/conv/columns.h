#pragma once

#include <array>

#include "tensor/tape.h"

namespace engine {

extern const OpInfo im2col_info, col2im_info;

struct ColumnOptions {
    std::array<std::int64_t, 2> kernel{1, 1}, dilation{1, 1}, padding{0, 0}, stride{1, 1};
};

// PyTorch's unfold and fold. With L windows in an image, by rows; the batch dimension may be
// missing.

/// The windows as columns: (N, C, H, W) -> (N, C kernel_h kernel_w, L), zeros in the padding.
Tensor im2col(const Tensor& x, const ColumnOptions& options);
/// Columns added up where their windows lie in images of size (height, width): (N, C kernel_h
/// kernel_w, L) -> (N, C, height, width). Sums in f32 (f64 for f64), rounded once.
Tensor col2im(const Tensor& columns, const std::array<std::int64_t, 2>& size,
              const ColumnOptions& options);

}  // namespace engine
