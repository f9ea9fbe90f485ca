#pragma once

#include "tensor/tape.h"

namespace engine {

inline constexpr const char* keeps_left =
    "In-place forms are never on the list: the left side keeps its type.";

// beta * c + alpha * (a product), summed in f32 (f64 for f64) with one rounding at the end. c
// broadcasts to the result's shape and is not read with beta 0. Policy low; without a region the
// arguments have one floating type (not addr's).

/// a (m, k), b (k, n) -> (m, n)
Tensor addmm(const Tensor& c, const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1);
inline constexpr Op addmm_op(CastPolicy::low, "addmm(c, a, b; beta=1, alpha=1)",
                             "A matrix product with an addition that costs nothing more: as mm.",
                             by_name<addmm>);

/// b1 (b, n, k), b2 (b, k, m) -> (b, n, m)
Tensor baddbmm(const Tensor& c, const Tensor& b1, const Tensor& b2, double beta = 1,
               double alpha = 1);
inline constexpr Op baddbmm_op(CastPolicy::low, "baddbmm(c, b1, b2; beta=1, alpha=1)",
                               "A batch of matrix products with an addition: as addmm.",
                               by_name<baddbmm>);
/// The products of a batch added up: b1 (b, n, k), b2 (b, k, m) -> (n, m). The whole sum over b and
/// k is one sum in f32.
Tensor addbmm(const Tensor& c, const Tensor& b1, const Tensor& b2, double beta = 1,
              double alpha = 1);
inline constexpr Op addbmm_op(CastPolicy::low, "addbmm(c, b1, b2; beta=1, alpha=1)",
                              "A batch of matrix products in one long sum, kept in fp32: as addmm.",
                              by_name<addbmm>);
/// matrix (m, k), vector (k) -> (m)
Tensor addmv(const Tensor& c, const Tensor& matrix, const Tensor& vector, double beta = 1,
             double alpha = 1);
inline constexpr Op addmv_op(CastPolicy::low, "addmv(c, matrix, vector; beta=1, alpha=1)",
                             "A matrix times a vector with an addition: as addmm.", by_name<addmv>);
/// v1 (n) and v2 (m) as column and row: beta * c[i, j] + alpha * v1[i] v2[j] -> (n, m). Without a
/// region its arguments promote as in any element-wise op.
Tensor addr(const Tensor& c, const Tensor& v1, const Tensor& v2, double beta = 1, double alpha = 1);
inline constexpr Op addr_op(CastPolicy::low, "addr(c, v1, v2; beta=1, alpha=1)",
                            "A product of a column and a row, listed with the matrix products; "
                            "outer, which only multiplies, is not.",
                            by_name<addr>);

/// beta * c + alpha * a b for matrices or batches of them, with one rounding: the core of addmm and
/// of its relatives, after their casts. c broadcasts and is not read with beta 0; errors and the
/// record name `info`.
Tensor add_product(const Op& info, const Tensor& c, const Tensor& a, const Tensor& b,
                   double beta, double alpha);

// x = beta * x + alpha * (a product), returning x; the result has x's shape and type. No in-place
// form has an autocast entry, so mixed types are an error inside a region too
// (autocast.md#operations-without-an-entry, 1.11). Errors on leaves and views as in
// ops/pointwise/inplace.h.

Tensor addmm_(const Tensor& x, const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1);
inline constexpr Op addmm_in_place_op(CastPolicy::none, "addmm_(x, a, b; beta=1, alpha=1)",
                                      keeps_left, by_name<addmm_>,
                                      {.forceable = false, .flushes_subnormals = true});
Tensor baddbmm_(const Tensor& x, const Tensor& b1, const Tensor& b2, double beta = 1,
                double alpha = 1);
inline constexpr Op baddbmm_in_place_op(CastPolicy::none, "baddbmm_(x, b1, b2; beta=1, alpha=1)",
                                        keeps_left, by_name<baddbmm_>,
                                        {.forceable = false, .flushes_subnormals = true});
Tensor addbmm_(const Tensor& x, const Tensor& b1, const Tensor& b2, double beta = 1,
               double alpha = 1);
inline constexpr Op addbmm_in_place_op(CastPolicy::none, "addbmm_(x, b1, b2; beta=1, alpha=1)",
                                       keeps_left, by_name<addbmm_>,
                                       {.forceable = false, .flushes_subnormals = true});
Tensor addmv_(const Tensor& x, const Tensor& matrix, const Tensor& vector, double beta = 1,
              double alpha = 1);
inline constexpr Op addmv_in_place_op(CastPolicy::none,
                                      "addmv_(x, matrix, vector; beta=1, alpha=1)", keeps_left,
                                      by_name<addmv_>,
                                      {.forceable = false, .flushes_subnormals = true});
/// The one that promotes, as addr: mixed types are computed in the widest and rounded to x's.
Tensor addr_(const Tensor& x, const Tensor& v1, const Tensor& v2, double beta = 1,
             double alpha = 1);
inline constexpr Op addr_in_place_op(CastPolicy::none, "addr_(x, v1, v2; beta=1, alpha=1)",
                                     keeps_left, by_name<addr_>, {.forceable = false});

}  // namespace engine
