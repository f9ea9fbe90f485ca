#pragma once

#include "tensor/tape.h"

namespace engine {

// Each result is rounded once; sums and differences are taken in f32 (f64 for f64).

/// dot: (k) (k) -> (). For the real types that there are here the two are one.
Tensor vdot(const Tensor& a, const Tensor& b);
inline constexpr Op vdot_op(CastPolicy::promote, "vdot(x, y)",
                            "Both sides go to the wider type, so that an fp32 side loses nothing.",
                            by_name<vdot>);
/// sum(a b) over a dimension of the shape that both broadcast to. Policy low.
Tensor linalg_vecdot(const Tensor& a, const Tensor& b, std::int64_t dim = -1);
inline constexpr Op linalg_vecdot_op(CastPolicy::low, "linalg_vecdot(x, y; dim=-1)",
                                     "Many dot products at once: a matrix product in disguise.",
                                     by_name<linalg_vecdot>);
/// a x b over a dimension of size 3; without `dim` the first of a's that has it. The others
/// broadcast; equal ranks.
Tensor cross(const Tensor& a, const Tensor& b, std::optional<std::int64_t> dim = {});
/// cross() without an autocast entry, so that mixed types are an error inside a region too.
Tensor linalg_cross(const Tensor& a, const Tensor& b, std::int64_t dim = -1);
inline constexpr Op linalg_cross_op(
    CastPolicy::none, "linalg_cross(x, y; dim=-1)",
    "Not on the autocast list, though cross is: keeps its inputs' type.", by_name<linalg_cross>);
inline constexpr Op cross_op(
    CastPolicy::promote, "cross(x, y; dim=None)",
    "Differences of products lose digits: both sides go to the wider type.", by_name<cross>);
/// (n) (m) -> (n, m): a[i] b[j]. Promotes as any element-wise op.
Tensor outer(const Tensor& a, const Tensor& b);
inline constexpr Op outer_op(
    CastPolicy::none, "outer(x, y)",
    "Not on the list: one product an element and no sum; mixed inputs promote.", by_name<outer>);
/// Kronecker product: every element of a times all of b, of the larger rank (4 at most), sizes
/// multiplied. Promotes as any element-wise op.
Tensor kron(const Tensor& a, const Tensor& b);
inline constexpr Op kron_op(
    CastPolicy::none, "kron(x, y)",
    "Not on the list: one product an element and no sum; mixed inputs promote.", by_name<kron>);

}  // namespace engine
