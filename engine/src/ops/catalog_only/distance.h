#pragma once

#include "tensor/tape.h"

namespace engine {

// Policy f32; distances are norms of differences and are computed in f32 (f64 for f64). The
// gradient at a distance of zero is zero.

/// norm(x - y, p) over all elements, x and y broadcast; 0-d. Mixed types promote.
Tensor dist(const Tensor& x, const Tensor& y, double p = 2);
inline constexpr Op dist_op(CastPolicy::f32, "dist(x, y; p=2)",
                            "Powers of differences and their sum soon overflow fp16.",
                            by_name<dist>);
/// x1 (..., P, M), x2 (..., R, M), their leading dimensions broadcast, one type: y (..., P, R), the
/// p-norm of each pair's difference, p >= 0. All differences lie in memory at once, P R M numbers a
/// batch. At p = infinity each of several equal largest differences gets the whole gradient.
Tensor cdist(const Tensor& x1, const Tensor& x2, double p = 2);
/// PyTorch's compute_mode chooses between subtraction and a matrix product, which is faster but
/// loses digits between near points. Here every mode subtracts.
TensorList cdist_by_name(const Op& op, const OpArguments& args);
inline constexpr Op cdist_op(
    CastPolicy::f32, "cdist(x1, x2; p=2, compute_mode='use_mm_for_euclid_dist_if_necessary')",
    "Near points differ in digits that fp16 does not have.", cdist_by_name);
/// The distances between the rows of x (N, M), each pair once: y (N (N - 1) / 2) in the order
/// (0, 1), (0, 2), ... (1, 2), ...; the rest as in cdist.
Tensor pdist(const Tensor& x, double p = 2);
inline constexpr Op pdist_op(CastPolicy::f32, "pdist(x; p=2)",
                             "Near points differ in digits that fp16 does not have.",
                             by_name<pdist>);

}  // namespace engine
