#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo baddbmm_info, addbmm_info, addmv_info, addr_info;

// beta * c + alpha * (a product), summed in f32 (f64 for f64) with one rounding at the end. c
// broadcasts to the result's shape and is not read with beta 0. Policy low; without a region the
// arguments have one floating type (not addr's).

/// b1 (b, n, k), b2 (b, k, m) -> (b, n, m)
Tensor baddbmm(const Tensor& c, const Tensor& b1, const Tensor& b2, double beta = 1,
               double alpha = 1);
/// The products of a batch added up: b1 (b, n, k), b2 (b, k, m) -> (n, m). The whole sum over b and
/// k is one sum in f32.
Tensor addbmm(const Tensor& c, const Tensor& b1, const Tensor& b2, double beta = 1,
              double alpha = 1);
/// matrix (m, k), vector (k) -> (m)
Tensor addmv(const Tensor& c, const Tensor& matrix, const Tensor& vector, double beta = 1,
             double alpha = 1);
/// v1 (n) and v2 (m) as column and row: beta * c[i, j] + alpha * v1[i] v2[j] -> (n, m). Without a
/// region its arguments promote as in any element-wise op.
Tensor addr(const Tensor& c, const Tensor& v1, const Tensor& v2, double beta = 1, double alpha = 1);

}  // namespace engine
