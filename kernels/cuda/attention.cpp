#include "kernels/attention.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "cuda/attention_graph.h"
#include "kernels/library_fallback.h"

namespace kernels::cuda {
namespace {

constexpr auto elements_aligned = static_cast<std::int64_t>(attention_alignment / 2);

bool is_aligned(std::int64_t extent, std::int64_t stride) {
    return extent == 1 || (stride > 0 && stride % elements_aligned == 0);
}

bool is_aligned(const AttentionTensor& t) {
    return is_aligned(t.dims[0], t.strides[0]) && is_aligned(t.dims[1], t.strides[1]) &&
           is_aligned(t.dims[2], t.strides[2]) && t.dims[3] % elements_aligned == 0;
}

bool is_aligned(const void* data) {
    return reinterpret_cast<std::uintptr_t>(data) % attention_alignment == 0;
}

/// Shapes that cuDNN accepts and, by version, computes wrongly. PyTorch uses it for none of them
/// (check_cudnn_tensor_shapes in sdp_utils.cpp, issue 138529).
/// - One key: there is no plan, or it fails.
/// - One query in the backward pass: the plan fails, or the gradients of k and v are NaN
///   (cudnn-frontend issue 1072).
/// - One query of one head of one example: 9.26 crashes while it makes the plan (issue 1071).
bool is_faulty(const Attention& a) {
    if (a.keys == 1) return true;
    if (a.queries > 1) return false;
    return a.pass == AttentionPass::backward || (a.batch == 1 && a.heads == 1);
}

/// Requirements of every version of the library. It may refuse more by itself.
bool is_possible(const Attention& a, const AttentionGraph& g) {
    const bool low = a.dtype == DType::f16 || a.dtype == DType::bf16;
    const auto least =
        std::min({a.batch, a.heads, a.kv_heads, a.queries, a.keys, a.qk_size, a.v_size});
    if (!low || least < 1 || a.heads % a.kv_heads != 0 || is_faulty(a)) return false;
    if (a.causal && a.queries != a.keys) return false;
    if (!is_aligned(g.q) || !is_aligned(g.k) || !is_aligned(g.v) || !is_aligned(g.y)) return false;
    return a.pass == AttentionPass::forward ||
           (is_aligned(g.dy) && is_aligned(g.dq) && is_aligned(g.dk) && is_aligned(g.dv));
}

void check_aligned(std::initializer_list<const void*> all) {
    for (const void* data : all)
        if (!is_aligned(data)) throw std::logic_error("attention: an operand is not aligned");
}

}  // namespace

std::optional<std::size_t> attention_workspace(const Attention& attention) {
    const AttentionGraph graph = describe(attention);
    if (!is_possible(attention, graph)) return std::nullopt;
    std::string why;
    const auto bytes = attention_graph_workspace(graph, &why);
    if (!bytes) note_fallback(AttentionFallback{attention, why});
    return bytes;
}

void attention_forward(const Attention& attention, const AttentionForwardData& d, void* workspace,
                       Stream stream) {
    check_aligned({d.q, d.k, d.v, d.y});
    attend(describe(attention), {d.q, d.k, d.v, d.y, d.logsumexp}, workspace, stream);
}

void attention_backward(const Attention& attention, const AttentionBackwardData& d, void* workspace,
                        Stream stream) {
    check_aligned({d.q, d.k, d.v, d.y, d.dy, d.dq, d.dk, d.dv});
    attend(describe(attention), {d.q, d.k, d.v, d.y, d.logsumexp, d.dy, d.dq, d.dk, d.dv},
           workspace, stream);
}

}  // namespace kernels::cuda
