#pragma once

#include "tensor/tape.h"

// Boxes are (x1, y1, x2, y2) in pixels, f32 whatever the region. nms() and batched_nms(), whose
// results have sizes that depend on values, compute on the host: tensors of a GPU are copied there
// and back, which waits.
namespace engine {

inline constexpr const char* boxes_are_pixels =
    "Boxes are pixels: 16 bits would move them, and areas overflow fp16, so it runs in fp32.";

/// Throws Error(shape) unless x is (rows, `columns`).
void check_columns(const Op& op, const Tensor& x, std::int64_t columns);
/// Throws Error(value) unless 0 <= threshold <= 1.
void check_threshold(const Op& op, double threshold);
/// x in `dtype`, row-major, where it lies; outside any graph.
Tensor dense_rows(const Tensor& x, DType dtype);
/// Copies x to the host as `dtype`.
Tensor on_host(const Tensor& x, DType dtype);
/// x, f64 as it is, any other type as f32.
Tensor as_f32(const Tensor& x);

}  // namespace engine
