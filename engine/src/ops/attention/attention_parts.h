#pragma once

#include "ops/attention/attention.h"

// Common parts of the attention ops.
namespace engine::detail {

/// dropout_p lies in [0, 1] and has its numbers, else Error(value).
void check_dropout(const Op& info, const AttentionOptions& options);

struct Attended {
    Tensor y;
    Tensor scores;  ///< (..., L, S), f32 (f64 for f64), under their mask
};
/// After casts and checks; leading dimensions are broadcast to `lead`. enable_gqa is not read: each
/// head of q has its own of k and v.
Attended attend(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                const AttentionOptions& options, const Shape& lead);

/// Each head of x (k or v) as often as a head of q needs one. The heads divide q's.
Tensor repeated_heads(const Tensor& x, const Tensor& q);

/// Gradients of q, k and v, saved in this order, by those of the products and the softmax:
/// themselves recorded if a graph of them is wanted.
TensorList gradients_by_products(const Tensor& dy, const Saved& saved,
                                 const AttentionOptions& options);

struct Fused {
    Tensor y;          ///< (N, H, L, V)
    Tensor logsumexp;  ///< (N, H, L) f32, outside the graph, as the kernel wrote it; undefined on a
                       ///< CPU, whose kernel writes none
};
/// Whether it is worth the views to ask for it: q (..., L, E), k (..., S, E), v (..., S, V).
bool may_be_fused(const Tensor& q, const Tensor& k, const Tensor& v,
                  const AttentionOptions& options);
/// Attention by the device's fused kernel, as one node of the tape under the name of `info`.
/// Nothing if there is no such kernel. q (N, H, L, E), k (N, G, S, E), v (N, G, S, V) after casts
/// and checks, G a divisor of H; no mask. The gradient comes from the kernel too, unless it is
/// itself recorded: then from attend().
std::optional<Fused> fused_attention(const Op& info, const Tensor& q, const Tensor& k,
                                     const Tensor& v, const AttentionOptions& options);

}  // namespace engine::detail
