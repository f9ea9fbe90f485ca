#pragma once

#include "core/autograd.h"

namespace engine {

extern const OpInfo mm_info, bmm_info, matmul_info, addmm_info, mv_info, dot_info, linear_info;

// Matrix products: operands of one floating type, sums in f32 (f64 for f64), one rounding at the
// end. Mixed types outside a region: Error(dtype).

/// (m, k) (k, n) -> (m, n)
Tensor mm(const Tensor& a, const Tensor& b);
/// (b, m, k) (b, k, n) -> (b, m, n)
Tensor bmm(const Tensor& a, const Tensor& b);
/// By rank as in NumPy: 1-d sides are a row or a column, batches broadcast.
Tensor matmul(const Tensor& a, const Tensor& b);
/// beta * c + alpha * a b; c broadcasts to (m, n) and is not read with beta 0.
Tensor addmm(const Tensor& c, const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1);
/// (m, k) (k) -> (m)
Tensor mv(const Tensor& matrix, const Tensor& vector);
/// (k) (k) -> (); mixed types go to the wider one in a region (policy promote).
Tensor dot(const Tensor& a, const Tensor& b);
/// x weight^T + bias: x (..., in), weight (out, in), bias (out) or undefined -> (..., out); weight
/// (in) without a bias -> (...).
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

/// alpha * a b by mm, or bmm for rank 3, with the last two dimensions of a or b swapped first: what
/// gradients of products are written in, so that no transposed copy or view is made. One rounding.
Tensor product(const Tensor& a, bool swap_a, const Tensor& b, bool swap_b, double alpha = 1);

/// The same with f32 sums of 16-bit operands given as f32, not rounded to their type. What comes
/// back is rounded to it, for the products that the gradient is.
Tensor wide_product(const Tensor& a, bool swap_a, const Tensor& b, bool swap_b, double alpha = 1);

/// beta * c + alpha * a b for matrices or batches of them, with one rounding: the core of addmm and
/// of its relatives, after their casts. c broadcasts and is not read with beta 0; errors and the
/// record name `info`.
Tensor add_product(const OpInfo& info, const Tensor& c, const Tensor& a, const Tensor& b,
                   double beta, double alpha);

}  // namespace engine
