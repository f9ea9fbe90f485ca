#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "cuda/attention_graph.h"
#include "simt/elements.h"
#include "simt/libraries.h"
#include "simt/library_plans.h"
#include "simt/queue.h"

// The attention of the simulated device's cuDNN: computes the description, a row at a time, in f32.
//
// - As in the real graph, exp of the scores is rounded to 16 bits for its product with v, before
//   the division by the row's sum, which adds the unrounded values.
// - The backward pass computes exp(score - logsumexp), rounds it for v's gradient, rounds the
//   scaled gradient of the scores for those of q and k, and stores the gradients of each head of a
//   group before adding them.
// - A fully masked (all -inf) row gives 0 and an infinite logsumexp, and keys behind a causal mask
//   are multiplied by 0 instead of left out, as in the composed form. The real library does not
//   document either.
namespace kernels::cuda {
namespace {

constexpr float least = -std::numeric_limits<float>::infinity();

/// The rows of one head in memory.
class Rows {
public:
    Rows(const void* data, DType dtype, const AttentionTensor& t, std::int64_t n, std::int64_t h)
        : data_(data),
          dtype_(dtype),
          start_(n * t.strides[0] + h * t.strides[1]),
          row_(t.strides[2]),
          count_(t.dims[2]),
          size_(t.dims[3]) {}

    std::int64_t count() const { return count_; }
    std::int64_t size() const { return size_; }
    float at(std::int64_t i, std::int64_t e) const {
        return static_cast<float>(simt::load(data_, dtype_, start_ + i * row_ + e));
    }
    void set(std::int64_t i, std::int64_t e, float value) const {
        simt::store(const_cast<void*>(data_), dtype_, start_ + i * row_ + e,
                    static_cast<double>(value));
    }

private:
    const void* data_;
    DType dtype_;
    std::int64_t start_, row_, count_, size_;
};

float dot(const Rows& a, std::int64_t i, const Rows& b, std::int64_t j) {
    float sum = 0;
    for (std::int64_t e = 0; e < a.size(); ++e) sum += a.at(i, e) * b.at(j, e);
    return sum;
}

float rounded(float x, DType dtype) {
    return dtype == DType::f16 ? to_float(to_half(x)) : to_float(to_bfloat16(x));
}

/// The parts of one head of q that the passes read.
struct Head {
    const AttentionGraph& g;
    Rows q, k, v, y, logsumexp;

    Head(const AttentionGraph& graph, const AttentionPointers& p, std::int64_t n, std::int64_t h)
        : g(graph),
          q(p.q, g.dtype, g.q, n, h),
          k(p.k, g.dtype, g.k, n, shared(h)),
          v(p.v, g.dtype, g.v, n, shared(h)),
          y(p.y, g.dtype, g.y, n, h),
          logsumexp(p.logsumexp, DType::f32, g.logsumexp, n, h) {}

    /// The head of k and v that serves head h of q.
    std::int64_t shared(std::int64_t h) const { return h / (g.q.dims[1] / g.k.dims[1]); }
    float score(std::int64_t i, std::int64_t j) const {
        return g.causal && j > i ? least : g.scale * dot(q, i, k, j);
    }
};

void forward_row(const Head& head, std::int64_t i) {
    const std::int64_t keys = head.k.count();
    std::vector<float> e(static_cast<std::size_t>(keys));
    float top = least, sum = 0;
    for (std::int64_t j = 0; j < keys; ++j) {
        e[static_cast<std::size_t>(j)] = head.score(i, j);
        top = std::max(top, e[static_cast<std::size_t>(j)]);
    }
    if (top == least) top = 0;
    for (float& value : e) {
        value = std::exp(value - top);
        sum += value;
        value = rounded(value, head.g.dtype);
    }
    for (std::int64_t c = 0; c < head.v.size(); ++c) {
        float y = 0;
        for (std::int64_t j = 0; j < keys; ++j)
            y += e[static_cast<std::size_t>(j)] * head.v.at(j, c);
        head.y.set(i, c, sum == 0 ? y : y / sum);
    }
    head.logsumexp.set(i, 0, sum == 0 ? -least : top + std::log(sum));
}

/// (rows, size) of sums.
struct Sums {
    std::int64_t size;
    std::vector<float> values;
    explicit Sums(const AttentionTensor& t)
        : size(t.dims[3]), values(static_cast<std::size_t>(t.dims[2] * t.dims[3])) {}
    void add(std::int64_t i, float factor, const Rows& from, std::int64_t row) {
        for (std::int64_t c = 0; c < size; ++c)
            values[static_cast<std::size_t>(i * size + c)] += factor * from.at(row, c);
    }
    void add_rounded(const Sums& other, DType dtype) {
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] += rounded(other.values[i], dtype);
    }
    void store(const Rows& to) const {
        for (std::size_t i = 0; i < values.size(); ++i) {
            const auto at = static_cast<std::int64_t>(i);
            to.set(at / size, at % size, values[i]);
        }
    }
};

struct Gradients {
    Sums dq, dk, dv;
};

void backward_row(const Head& head, const Rows& dy, std::int64_t i, Gradients& out) {
    const float of_sum = dot(dy, i, head.y, i);
    for (std::int64_t j = 0; j < head.k.count(); ++j) {
        const float p = std::exp(head.score(i, j) - head.logsumexp.at(i, 0));
        const float ds = rounded(p * (dot(dy, i, head.v, j) - of_sum) * head.g.scale, head.g.dtype);
        out.dq.add(i, ds, head.k, j);
        out.dk.add(j, ds, head.q, i);
        out.dv.add(j, rounded(p, head.g.dtype), dy, i);
    }
}

/// As in the real library's deterministic gradient: 16 bits for each head, query and key of an
/// example.
std::size_t scratch_bytes(const AttentionGraph& g) {
    if (g.pass == AttentionPass::forward) return 1000;
    return static_cast<std::size_t>(g.q.dims[0] * g.q.dims[1] * g.q.dims[2] * g.k.dims[2]) * 2;
}

/// Before 9.26 the real backward pass on Hopper gives the empty half of the last tile of 128 keys
/// the score 0: exp(0 - logsumexp) times a key of zeros is NaN once it is infinite.
void add_empty_half_tile(const AttentionGraph& g, const Head& head, std::int64_t i, Sums& dq) {
    const bool is_fault =
        simt::library_settings().cudnn_version < 92600 && !g.causal && g.k.dims[2] % 128 == 64;
    if (!is_fault) return;
    const float nothing = 0 * std::exp(0 - head.logsumexp.at(i, 0));
    for (std::int64_t c = 0; c < dq.size; ++c)
        dq.values[static_cast<std::size_t>(i * dq.size + c)] += nothing;
}

void backward_group(const AttentionGraph& g, const AttentionPointers& p, std::int64_t n,
                    std::int64_t shared) {
    Sums dk(g.dk), dv(g.dv);
    const std::int64_t group = g.q.dims[1] / g.k.dims[1];
    for (std::int64_t h = shared * group; h < (shared + 1) * group; ++h) {
        const Head head(g, p, n, h);
        Gradients own{Sums(g.dq), Sums(g.dk), Sums(g.dv)};
        for (std::int64_t i = 0; i < head.q.count(); ++i) {
            backward_row(head, Rows(p.dy, g.dtype, g.dy, n, h), i, own);
            add_empty_half_tile(g, head, i, own.dq);
        }
        own.dq.store(Rows(p.dq, g.dtype, g.dq, n, h));
        dk.add_rounded(own.dk, g.dtype);
        dv.add_rounded(own.dv, g.dtype);
    }
    dk.store(Rows(p.dk, g.dtype, g.dk, n, shared));
    dv.store(Rows(p.dv, g.dtype, g.dv, n, shared));
}

void run(const AttentionGraph& g, const AttentionPointers& p) {
    const bool forward = g.pass == AttentionPass::forward;
    for (std::int64_t n = 0; n < g.q.dims[0]; ++n) {
        for (std::int64_t h = 0; forward && h < g.q.dims[1]; ++h) {
            const Head head(g, p, n, h);
            for (std::int64_t i = 0; i < head.q.count(); ++i) forward_row(head, i);
        }
        for (std::int64_t h = 0; !forward && h < g.k.dims[1]; ++h) backward_group(g, p, n, h);
    }
}

bool supports(const AttentionGraph& graph) {
    const simt::LibrarySettings settings = simt::library_settings();
    const bool forward = graph.pass == AttentionPass::forward;
    if (!(forward ? settings.attention : settings.attention_backward)) return false;
    // The largest head of the real library, and the one shape that its backward pass rejects.
    return std::max(graph.q.dims[3], graph.v.dims[3]) <= 128 &&
           (forward || graph.q.dims[2] > 1 || graph.k.dims[2] > 1);
}

simt::LibraryPlans<AttentionGraph, AttentionGraphHash>& plans() {
    static auto* only =
        new simt::LibraryPlans<AttentionGraph,
                               AttentionGraphHash>;  // never freed, like the real one
    return *only;
}

}  // namespace

std::optional<std::size_t> attention_graph_workspace(const AttentionGraph& graph,
                                                     std::string* why) {
    if (!plans().get(
            graph, [&] { return supports(graph); }, why))
        return std::nullopt;
    return scratch_bytes(graph);
}

std::size_t attention_library_version() { return simt::library_settings().cudnn_version; }
std::size_t attention_scratch_limit() { return simt::library_settings().attention_scratch; }

void attend(const AttentionGraph& graph, const AttentionPointers& pointers, void* workspace,
            Stream stream) {
    const auto plan = plans().use(
        graph, [&] { return supports(graph); }, stream);
    if (!plan) throw std::logic_error("attention that was refused");
    simt::count_attention_run();
    simt::enqueue(
        "cudnnBackendExecute", stream, simt::with_kernels_of(plan, [graph, pointers, workspace] {
            std::fill_n(static_cast<unsigned char*>(workspace), scratch_bytes(graph), 0xffu);
            run(graph, pointers);
        }));
}

}  // namespace kernels::cuda
