#include "cuda/attention_graph.h"

#include <bit>

#include "cuda/mix.h"
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

}  // namespace kernels::cuda
