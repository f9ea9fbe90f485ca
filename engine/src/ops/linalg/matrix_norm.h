#pragma once

#include <string>
#include <variant>

#include "tensor/tape.h"

namespace engine {

inline constexpr const char* squares_overflow =
    "Sums of squares and singular values soon overflow fp16.";

/// "fro": root of the sum of squares; "nuc": sum of the singular values; 2, -2: the largest and the
/// least of them; 1, -1: the largest and least column sum of magnitudes; infinity, -infinity: of
/// rows.
using MatrixOrder = std::variant<std::string, double>;

/// Norms of the matrices that lie in two dimensions of x. Without `dtype`: x's type, f32 in a
/// region; `dtype` must not be narrower than x's. Orders by singular values are for small matrices
/// and wait for the device (svd()); equal ones share the gradient.
Tensor linalg_matrix_norm(const Tensor& x, const MatrixOrder& ord = "fro",
                          const std::vector<std::int64_t>& dims = {-2, -1}, bool keepdim = false,
                          std::optional<DType> dtype = {});
inline constexpr Op linalg_matrix_norm_op(
    CastPolicy::f32_dtype,
    "linalg_matrix_norm(x; ord='fro', dim=[-2, -1], keepdim=False, dtype=None)", squares_overflow,
    by_name<linalg_matrix_norm>);
/// Policy f32. Over at most two dimensions (none: all).
Tensor frobenius_norm(const Tensor& x, const std::vector<std::int64_t>& dims, bool keepdim = false);
inline constexpr Op frobenius_norm_op(CastPolicy::f32, "frobenius_norm(x; dim=[], keepdim=False)",
                                      squares_overflow, by_name<frobenius_norm>);
/// Policy f32. Over two dimensions; none: x is a matrix.
Tensor nuclear_norm(const Tensor& x, const std::vector<std::int64_t>& dims = {},
                    bool keepdim = false);
inline constexpr Op nuclear_norm_op(CastPolicy::f32, "nuclear_norm(x; dim=None, keepdim=False)",
                                    squares_overflow, by_name<nuclear_norm>);

/// The sum of singular values for norm(x, p="nuc"), recorded as part of `info`. x is f32 or f64;
/// the two dimensions are kept.
Tensor nuclear_of(const Op& info, const Tensor& x, std::vector<std::int64_t> dims);

/// u (b, m, k), s (b, k) in descending order, v (b, n, k), k = min(m, n).
struct SingularValues {
    Tensor u, s, v;
};

/// x (b, m, n), f32 or f64: x = u diag(s) v^T, computed in f64 by Jacobi rotations on the host, for
/// small matrices. On CUDA x is copied to the host and the results back, so it waits for the
/// device. The gradient is that of the thin decomposition. The gradient by u and v, and the second
/// derivative of functions of s, exist only if singular values differ and, for a matrix that is not
/// square, are not zero.
SingularValues svd(const Tensor& x);

}  // namespace engine
