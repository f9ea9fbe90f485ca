#pragma once

#include <array>

#include "tensor/tape.h"

namespace engine {

struct ColumnOptions {
    std::array<std::int64_t, 2> kernel{1, 1}, dilation{1, 1}, padding{0, 0}, stride{1, 1};

    void read(auto& from) {
        from("kernel_size", kernel)("dilation", dilation)("padding", padding)("stride", stride);
    }
};

// PyTorch's unfold and fold. With L windows in an image, by rows; the batch dimension may be
// missing.

/// The windows as columns: (N, C, H, W) -> (N, C kernel_h kernel_w, L), zeros in the padding.
Tensor im2col(const Tensor& x, const ColumnOptions& options);
inline constexpr Op im2col_op(CastPolicy::none,
                              "im2col(x; kernel_size=1, dilation=1, padding=0, stride=1)",
                              "Copies values: nothing is lost in its input's type.",
                              by_name<im2col>, {.forceable = false});
/// Columns added up where their windows lie in images of size (height, width): (N, C kernel_h
/// kernel_w, L) -> (N, C, height, width). Sums in f32 (f64 for f64), rounded once.
Tensor col2im(const Tensor& columns, const std::array<std::int64_t, 2>& size,
              const ColumnOptions& options);
inline constexpr Op col2im_op(
    CastPolicy::none, "col2im(x; output_size, kernel_size=1, dilation=1, padding=0, stride=1)",
    "Not on the list: adds in fp32 and rounds to its input's type.", by_name<col2im>);

}  // namespace engine
