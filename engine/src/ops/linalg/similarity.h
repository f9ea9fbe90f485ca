#pragma once

#include "tensor/tape.h"

namespace engine {

/// sum(x1 x2) / (max(|x1|, eps) max(|x2|, eps)) along dim of the common shape. Policy f32; mixed
/// types promote. As in PyTorch the gradient ignores the clamp by eps; the gradient of the norm of
/// a zero vector is zero.
Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, std::int64_t dim = 1,
                         double eps = 1e-8);
inline constexpr Op cosine_similarity_op(
    CastPolicy::f32, "cosine_similarity(x1, x2; dim=1, eps=1e-8)",
    "Norms are sums of squares, and eps = 1e-8 is zero in fp16.", by_name<cosine_similarity>);
/// x / max(norm(x; p, dim), eps). No autocast entry, but the norm inside has one: f32 in a region,
/// x's type outside. The result is rounded once.
Tensor normalize(const Tensor& x, double p = 2, std::int64_t dim = 1, double eps = 1e-12);
inline constexpr Op normalize_op(
    CastPolicy::none, "normalize(x; p=2, dim=1, eps=1e-12)",
    "Not on the list itself: the norm inside is fp32, and so is the quotient.", by_name<normalize>);
/// Each slice x[..., i, ...] of dimension dim whose p-norm is above maxnorm is scaled down to it:
/// times maxnorm / (norm + 1e-7). Policy f32. x of rank 2 or more, p > 0, maxnorm >= 0.
Tensor renorm(const Tensor& x, double p, std::int64_t dim, double maxnorm);
inline constexpr Op renorm_op(CastPolicy::f32, "renorm(x; p=2, dim=0, maxnorm)",
                              "Its norms are sums of powers, which soon overflow fp16.",
                              by_name<renorm>);

}  // namespace engine
