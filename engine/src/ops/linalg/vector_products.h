#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo vdot_info, linalg_vecdot_info, cross_info, linalg_cross_info, outer_info,
    kron_info;

// Each result is rounded once; sums and differences are taken in f32 (f64 for f64).

/// dot: (k) (k) -> (). For the real types that there are here the two are one.
Tensor vdot(const Tensor& a, const Tensor& b);
/// sum(a b) over a dimension of the shape that both broadcast to. Policy low.
Tensor linalg_vecdot(const Tensor& a, const Tensor& b, std::int64_t dim = -1);
/// a x b over a dimension of size 3; without `dim` the first of a's that has it. The others
/// broadcast; equal ranks.
Tensor cross(const Tensor& a, const Tensor& b, std::optional<std::int64_t> dim = {});
/// cross() without an autocast entry, so that mixed types are an error inside a region too.
Tensor linalg_cross(const Tensor& a, const Tensor& b, std::int64_t dim = -1);
/// (n) (m) -> (n, m): a[i] b[j]. Promotes as any element-wise op.
Tensor outer(const Tensor& a, const Tensor& b);
/// Kronecker product: every element of a times all of b, of the larger rank (4 at most), sizes
/// multiplied. Promotes as any element-wise op.
Tensor kron(const Tensor& a, const Tensor& b);

}  // namespace engine
