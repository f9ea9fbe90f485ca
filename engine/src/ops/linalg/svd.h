#pragma once

#include "tensor/tape.h"

namespace engine {

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
