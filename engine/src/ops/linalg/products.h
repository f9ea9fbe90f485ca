#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo addmm_info, baddbmm_info, addbmm_info, addmv_info, addr_info;

// beta * c + alpha * (a product), summed in f32 (f64 for f64) with one rounding at the end. c
// broadcasts to the result's shape and is not read with beta 0. Policy low; without a region the
// arguments have one floating type (not addr's).

/// a (m, k), b (k, n) -> (m, n)
Tensor addmm(const Tensor& c, const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1);

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

/// beta * c + alpha * a b for matrices or batches of them, with one rounding: the core of addmm and
/// of its relatives, after their casts. c broadcasts and is not read with beta 0; errors and the
/// record name `info`.
Tensor add_product(const OpInfo& info, const Tensor& c, const Tensor& a, const Tensor& b,
                   double beta, double alpha);

extern const OpInfo addmm_in_place_info, baddbmm_in_place_info, addbmm_in_place_info,
    addmv_in_place_info, addr_in_place_info;

// x = beta * x + alpha * (a product), returning x; the result has x's shape and type. No in-place
// form has an autocast entry, so mixed types are an error inside a region too
// (autocast.md#operations-without-an-entry, 1.11). Errors on leaves and views as in
// ops/pointwise/inplace.h.

Tensor addmm_(const Tensor& x, const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1);
Tensor baddbmm_(const Tensor& x, const Tensor& b1, const Tensor& b2, double beta = 1,
                double alpha = 1);
Tensor addbmm_(const Tensor& x, const Tensor& b1, const Tensor& b2, double beta = 1,
               double alpha = 1);
Tensor addmv_(const Tensor& x, const Tensor& matrix, const Tensor& vector, double beta = 1,
              double alpha = 1);
/// The one that promotes, as addr: mixed types are computed in the widest and rounded to x's.
Tensor addr_(const Tensor& x, const Tensor& v1, const Tensor& v2, double beta = 1,
             double alpha = 1);

}  // namespace engine
