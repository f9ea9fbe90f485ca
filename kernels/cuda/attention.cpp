#include "kernels/attention.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "cuda/attention_graph.h"
#include "kernels/cuda_device.h"
#include "kernels/device_error.h"
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

/// The library's version and the card are asked for only where they decide: the driver takes about
/// a millisecond to describe a card.
bool is_faulty_here(const Attention& a) {
    constexpr int min_sound_major = 0;
    constexpr auto newest = std::numeric_limits<std::size_t>::max();
    if (is_faulty(a, min_sound_major, newest)) return true;
    if (!is_faulty(a, /*capability_major=*/9, /*version=*/0)) return false;
    return is_faulty(a, device_info(current_device()).major, attention_library_version());
}

/// Requirements of every version of the library. It may refuse more by itself.
bool is_possible(const Attention& a, const AttentionGraph& g) {
    const bool low = a.dtype == DType::f16 || a.dtype == DType::bf16;
    const auto least =
        std::min({a.batch, a.heads, a.kv_heads, a.queries, a.keys, a.qk_size, a.v_size});
    if (!low || least < 1 || a.heads % a.kv_heads != 0 || is_faulty_here(a)) return false;
    if (a.causal && a.queries != a.keys) return false;
    if (!is_aligned(g.q) || !is_aligned(g.k) || !is_aligned(g.v) || !is_aligned(g.y)) return false;
    return a.pass == AttentionPass::forward ||
           (is_aligned(g.dy) && is_aligned(g.dq) && is_aligned(g.dk) && is_aligned(g.dv));
}

struct Pass {
    AttentionParts parts;
    std::size_t scratch = 0;  ///< of one part
};

std::string mebibytes(std::size_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

/// The parts in which the pass is computed: the whole, but for a backward pass whose deterministic
/// algorithm would take too much scratch. Nothing if the library has no plan; `why` is as
/// attention_graph_workspace() sets it.
std::optional<Pass> pass_of(const Attention& a, std::string* why) {
    const AttentionParts whole{a.batch, a.heads};
    const AttentionGraph graph = describe(a);
    const auto bytes = attention_graph_workspace(graph, why);
    if (!bytes) return std::nullopt;
    const std::size_t limit = attention_scratch_limit();
    const bool is_limited = a.pass == AttentionPass::backward && graph.bit_stable;
    if (!is_limited || *bytes <= limit) return Pass{whole, *bytes};
    if (const auto parts = parts_within(a, whole, *bytes, limit)) {
        const auto scratch = attention_graph_workspace(describe(part_of(a, *parts)), why);
        if (scratch && *scratch <= limit) return Pass{*parts, *scratch};
    }
    if (why)
        *why = "its deterministic algorithm takes more than " + mebibytes(limit) +
               " of scratch for one head (deterministic=false allows another)";
    return std::nullopt;
}

/// A pointer moved by elements of 16 bits.
template <typename T>
T* moved(T* data, std::int64_t elements) {
    using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
    return static_cast<Byte*>(data) + 2 * elements;
}

AttentionPointers make_pointers(const Attention& a, const AttentionBackwardData& d,
                                std::int64_t example, std::int64_t head) {
    const std::int64_t kv_head = head * a.kv_heads / a.heads;
    const auto of_q = [&](auto* data, const AttentionStrides& s) {
        return moved(data, example * s.batch + head * s.head);
    };
    const auto of_k = [&](auto* data, const AttentionStrides& s) {
        return moved(data, example * s.batch + kv_head * s.head);
    };
    return {of_q(d.q, a.q),
            of_k(d.k, a.k),
            of_k(d.v, a.v),
            of_q(d.y, a.y),
            d.logsumexp + (example * a.heads + head) * a.queries,
            of_q(d.dy, a.dy),
            of_q(d.dq, a.dq),
            of_k(d.dk, a.dk),
            of_k(d.dv, a.dv)};
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
    const auto pass = pass_of(attention, &why);
    if (!pass) {
        note_fallback(AttentionFallback{attention, why});
        return std::nullopt;
    }
    return pass->scratch;
}

void attention_forward(const Attention& attention, const AttentionForwardData& d, void* workspace,
                       Stream stream) {
    check_aligned({d.q, d.k, d.v, d.y});
    attend(describe(attention), {d.q, d.k, d.v, d.y, d.logsumexp}, workspace, stream);
}

void attention_backward(const Attention& attention, const AttentionBackwardData& d, void* workspace,
                        Stream stream) {
    check_aligned({d.q, d.k, d.v, d.y, d.dy, d.dq, d.dk, d.dv});
    std::string why;
    const auto pass = pass_of(attention, &why);
    if (!pass) throw DeviceError("attention has no plan any more. " + why);
    const AttentionGraph part = describe(part_of(attention, pass->parts));
    for (std::int64_t n = 0; n < attention.batch; n += pass->parts.examples)
        for (std::int64_t h = 0; h < attention.heads; h += pass->parts.heads)
            attend(part, make_pointers(attention, d, n, h), workspace, stream);
}

}  // namespace kernels::cuda
