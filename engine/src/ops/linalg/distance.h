#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo dist_info, cdist_info, pdist_info;

// Policy f32; distances are norms of differences and are computed in f32 (f64 for f64). The
// gradient at a distance of zero is zero.

/// norm(x - y, p) over all elements, x and y broadcast; 0-d. Mixed types promote.
Tensor dist(const Tensor& x, const Tensor& y, double p = 2);
/// x1 (..., P, M), x2 (..., R, M), their leading dimensions broadcast, one type: y (..., P, R), the
/// p-norm of each pair's difference, p >= 0. All differences lie in memory at once, P R M numbers a
/// batch. At p = infinity each of several equal largest differences gets the whole gradient.
Tensor cdist(const Tensor& x1, const Tensor& x2, double p = 2);
/// The distances between the rows of x (N, M), each pair once: y (N (N - 1) / 2) in the order
/// (0, 1), (0, 2), ... (1, 2), ...; the rest as in cdist.
Tensor pdist(const Tensor& x, double p = 2);

}  // namespace engine
