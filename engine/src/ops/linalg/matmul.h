#pragma once

#include "tensor/tape.h"

namespace engine {

// Matrix products: operands of one floating type, sums in f32 (f64 for f64), one rounding at the
// end. Mixed types outside a region: Error(dtype).

/// (m, k) (k, n) -> (m, n)
Tensor mm(const Tensor& a, const Tensor& b);
inline constexpr Op mm_op(
    CastPolicy::low, "mm(a, b)",
    "Most of a network's arithmetic is here: 16-bit hardware does it fast and sums in fp32.",
    by_name<mm>);
/// (b, m, k) (b, k, n) -> (b, m, n)
Tensor bmm(const Tensor& a, const Tensor& b);
inline constexpr Op bmm_op(CastPolicy::low, "bmm(a, b)", "A batch of matrix products: as mm.",
                           by_name<bmm>);
/// Multiplies by rank as NumPy does: 1-d sides are a row or a column, batches broadcast.
Tensor matmul(const Tensor& a, const Tensor& b);
inline constexpr Op matmul_op(CastPolicy::low, "matmul(a, b)",
                              "A matrix product under another name: as mm.", by_name<matmul>);
/// (m, k) (k) -> (m)
Tensor mv(const Tensor& matrix, const Tensor& vector);
inline constexpr Op mv_op(CastPolicy::low, "mv(matrix, vector)", "A matrix times a vector: as mm.",
                          by_name<mv>);
/// (k) (k) -> (); mixed types go to the wider one in a region (policy promote).
Tensor dot(const Tensor& a, const Tensor& b);
inline constexpr Op dot_op(CastPolicy::promote, "dot(x, y)",
                           "Both sides go to the wider type, so that an fp32 side loses nothing.",
                           by_name<dot>);
/// The dimensions of x before the last two.
Shape leading_dims(const Tensor& x);
/// alpha * a b by mm, or bmm for rank 3, with the last two dimensions of a or b swapped first.
/// Gradients of products are written with it, so no transposed copy or view is made. One rounding.
Tensor product(const Tensor& a, bool swap_a, const Tensor& b, bool swap_b, double alpha = 1);

/// Product of 16-bit operands given as f32, and an f32 result that is not rounded to their type.
/// The incoming gradient is rounded to that type for the products of the backward pass.
Tensor wide_product(const Tensor& a, bool swap_a, const Tensor& b, bool swap_b, double alpha = 1);

}  // namespace engine
