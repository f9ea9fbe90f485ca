#pragma once

#include "tensor/random_source.h"
#include "tensor/tape.h"

namespace engine {

struct AttentionOptions {
    double dropout_p = 0;    ///< of the weights, always applied; needs `random`, else Error(value)
    bool is_causal = false;  ///< position i sees keys 0 to i; not beside a mask
    std::optional<double> scale = {};  ///< 1 / sqrt(E) if not given
    bool enable_gqa = false;  ///< each head of k and v serves a group of q's neighbouring heads
    std::optional<RandomSource> random = {};
    std::uint64_t random_offset = 0;  ///< one number a weight from here on

    void read(auto& from) {
        from("dropout_p", dropout_p)("is_causal", is_causal)("scale", scale);
        from("enable_gqa", enable_gqa);
    }
};

/// softmax(scale q k^T + mask) v: q (..., L, E), k (..., S, E), v (..., S, V) -> (..., L, V),
/// leading dimensions broadcast.
///
/// - mask broadcasts to (..., L, S): true where a key is seen, or added to the scores; undefined
///   for none. A row that sees no key gives 0.
/// - q, k, v and an added mask have one type, else Error(dtype); low in a region.
/// - Scores and weights are f32 (f64 for f64). The weights are rounded to the type for the product
///   with v, and the result once.
///
/// Without a mask one kernel computes it and keeps no scores (kernels/attention.h): on a CPU in
/// every type but f64, on a GPU in 16 bits and without dropout. The roundings are the same, but a
/// GPU's library does not document its result for infinite or NaN scores.
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const Tensor& mask = {}, const AttentionOptions& options = {});
inline constexpr Op scaled_dot_product_attention_op(
    CastPolicy::low,
    "scaled_dot_product_attention(q, k, v, mask?; dropout_p=0, is_causal=False, scale=None, "
    "enable_gqa=False)",
    "Two matrix products around a softmax; its scores and sums stay in fp32 inside.",
    by_name<scaled_dot_product_attention>);

/// {output, logsumexp} for q (N, H, L, E), k and v (N, H, S, E), where every head has its own keys,
/// without a mask. is_causal requires L = S, else Error(value). logsumexp (N, H, L), f32 (f64 for
/// f64), is taken over the scaled scores of a row, under the causal mask and before dropout. It is
/// infinity where a row has no key, no score above -infinity, or a NaN, as in PyTorch's kernel, and
/// has no gradient, as in PyTorch. Types and head sizes as above.
TensorList scaled_dot_product_flash_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                              const AttentionOptions& options = {});
inline constexpr Op scaled_dot_product_flash_attention_op(
    CastPolicy::low,
    "_scaled_dot_product_flash_attention(q, k, v; dropout_p=0, is_causal=False, scale=None)",
    "The fused kernel, called directly: products in 16 bits; scores, sums and logsumexp in fp32.",
    by_name<scaled_dot_product_flash_attention>);

}  // namespace engine
