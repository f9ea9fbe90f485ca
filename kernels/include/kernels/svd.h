#pragma once

#include <cstdint>

namespace kernels::cpu {

/// Thin singular value decomposition of `count` dense row-major matrices x (rows, cols), on the
/// host: x = u diag(s) v^T with u (rows, k), s (k) in descending order, v (cols, k), k = min(rows,
/// cols). One-sided Jacobi rotations (Hestenes 1958; Demmel & Veselic 1992), about 6 k^2 (rows +
/// cols) operations a sweep and some ten sweeps: for small matrices. The columns of u for zeros of
/// s are orthonormal too. A matrix with NaN or infinity gives NaN.
void svd(double* u, double* s, double* v, const double* x, std::int64_t count, std::int64_t rows,
         std::int64_t cols);

}  // namespace kernels::cpu
