#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo cosine_similarity_info, normalize_info, renorm_info;

/// sum(x1 x2) / (max(|x1|, eps) max(|x2|, eps)) along dim of the common shape. Policy f32; mixed
/// types promote. As in PyTorch the gradient ignores the clamp by eps; the gradient of the norm of
/// a zero vector is zero.
Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, std::int64_t dim = 1,
                         double eps = 1e-8);
/// x / max(norm(x; p, dim), eps). No autocast entry, but the norm inside has one: f32 in a region,
/// x's type outside. The result is rounded once.
Tensor normalize(const Tensor& x, double p = 2, std::int64_t dim = 1, double eps = 1e-12);
/// Each slice x[..., i, ...] of dimension dim whose p-norm is above maxnorm is scaled down to it:
/// times maxnorm / (norm + 1e-7). Policy f32. x of rank 2 or more, p > 0, maxnorm >= 0.
Tensor renorm(const Tensor& x, double p, std::int64_t dim, double maxnorm);

}  // namespace engine
