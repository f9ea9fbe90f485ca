#include "cuda/attention_graph.h"

#include <bit>

#include "cuda/lru_cache.h"
#include "kernels/cuda_device.h"
#include "kernels/plan_choice.h"

namespace kernels::cuda {
namespace {

/// A dimension of one element has no stride: it gets that of a dense tensor, for one plan.
AttentionTensor tensor(std::int64_t n, std::int64_t h, std::int64_t rows, std::int64_t size,
                       const AttentionStrides& s) {
    return {{n, h, rows, size},
            {n == 1 ? h * rows * size : s.batch, h == 1 ? rows * size : s.head,
             rows == 1 ? size : s.row, 1}};
}

void mix_in(std::size_t& hash, const AttentionTensor& tensor) {
    for (const std::int64_t dim : tensor.dims) mix(hash, dim);
    for (const std::int64_t stride : tensor.strides) mix(hash, stride);
}

}  // namespace

std::size_t AttentionGraphHash::operator()(const AttentionGraph& g) const noexcept {
    std::size_t hash = hash_start;
    mix(hash, static_cast<std::int64_t>(g.pass));
    mix(hash, static_cast<std::int64_t>(g.dtype));
    for (const AttentionTensor* t :
         {&g.q, &g.k, &g.v, &g.y, &g.dy, &g.dq, &g.dk, &g.dv, &g.logsumexp})
        mix_in(hash, *t);
    mix(hash, std::bit_cast<std::int32_t>(g.scale));
    mix(hash, g.causal ? 1 : 0);
    mix(hash, g.bit_stable ? 1 : 0);
    mix(hash, g.device);
    return hash;
}

AttentionGraph describe(const Attention& a) {
    const auto of_q = [&](std::int64_t size, const AttentionStrides& s) {
        return tensor(a.batch, a.heads, a.queries, size, s);
    };
    const auto of_k = [&](std::int64_t size, const AttentionStrides& s) {
        return tensor(a.batch, a.kv_heads, a.keys, size, s);
    };
    AttentionGraph g;
    g.pass = a.pass;
    g.dtype = a.dtype;
    g.q = of_q(a.qk_size, a.q);
    g.k = of_k(a.qk_size, a.k);
    g.v = of_k(a.v_size, a.v);
    g.y = of_q(a.v_size, a.y);
    if (a.pass == AttentionPass::backward) {
        g.dy = of_q(a.v_size, a.dy);
        g.dq = of_q(a.qk_size, a.dq);
        g.dk = of_k(a.qk_size, a.dk);
        g.dv = of_k(a.v_size, a.dv);
    }
    g.logsumexp = of_q(1, {a.heads * a.queries, a.queries, 1});
    g.scale = a.scale;
    g.causal = a.causal;
    g.bit_stable = a.pass == AttentionPass::forward || plan_choice().bit_stable;
    g.device = current_device();
    return g;
}

// PyTorch uses the library for none of the first three (check_cudnn_tensor_shapes in
// sdp_utils.cpp).
bool is_faulty(const Attention& a, int capability_major, std::size_t version) {
    // There is no plan, or it fails.
    if (a.keys == 1) return true;
    const bool backward = a.pass == AttentionPass::backward;
    // The plan fails, or the gradients of k and v are NaN (cudnn-frontend issue 1072; 9.25, 9.26).
    if (a.queries == 1 && backward) return true;
    // 9.26 crashes while it makes the plan (cudnn-frontend issue 1071).
    if (a.queries == 1 && a.batch == 1 && a.heads == 1) return true;
    // The empty half of the last tile of 128 keys has the score 0 instead of -inf. For a row whose
    // logsumexp is below -88.7, exp(0 - logsumexp) is infinite and its gradient NaN (cudnn-frontend
    // pull request 628; mended in 9.26).
    constexpr std::size_t mended = 92600;
    return capability_major == 9 && version < mended && backward && !a.causal && a.keys % 128 == 64;
}

namespace {

/// The largest divisor of `n` that is at most `most`; at least 1.
std::int64_t divisor_within(std::int64_t n, double most) {
    for (std::int64_t parts = 1; parts < n; ++parts)
        if (n % parts == 0 && static_cast<double>(n / parts) <= most) return n / parts;
    return 1;
}

}  // namespace

std::optional<AttentionParts> parts_within(const Attention& a, AttentionParts of,
                                           std::size_t scratch, std::size_t limit) {
    const double a_head =
        static_cast<double>(scratch) / static_cast<double>(of.examples * of.heads);
    const double heads = static_cast<double>(limit) / a_head;
    const std::int64_t group = a.heads / a.kv_heads;
    if (heads >= static_cast<double>(a.heads))
        return AttentionParts{divisor_within(a.batch, heads / static_cast<double>(a.heads)),
                              a.heads};
    const double groups = heads / static_cast<double>(group);
    if (groups < 1) return std::nullopt;
    return AttentionParts{1, divisor_within(a.kv_heads, groups) * group};
}

Attention part_of(const Attention& a, const AttentionParts& parts) {
    Attention part = a;
    part.batch = parts.examples;
    part.kv_heads = parts.heads * a.kv_heads / a.heads;
    part.heads = parts.heads;
    return part;
}

}  // namespace kernels::cuda
