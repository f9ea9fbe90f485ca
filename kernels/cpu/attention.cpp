#include "kernels/attention.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "cpu/gemm_scratch.h"
#include "kernels/elementwise.h"
#include "kernels/gemm.h"
#include "kernels/parallel.h"
#include "kernels/softmax.h"

namespace kernels::cpu {
namespace {

/// Scores that a thread computes at a time: with their copies they stay in its L2.
constexpr std::int64_t scores_at_once = 32 << 10;
/// Multiply-adds that a second thread must at least take to pay for waking it.
constexpr std::int64_t thread_grain = 1 << 19;

std::int64_t element_bytes(DType dtype) { return static_cast<std::int64_t>(size_of(dtype)); }

/// The rows of one head, or some of them.
struct Rows {
    const char* data;
    DType dtype;
    std::int64_t rows, cols, ld;

    Rows from(std::int64_t first, std::int64_t count) const {
        return {data + first * ld * element_bytes(dtype), dtype, count, cols, ld};
    }
    ConstMatrix matrix() const { return {data, dtype, rows, cols, ld}; }
    ConstMatrix transposed() const { return {data, dtype, cols, rows, ld, true}; }
    Matrix out() const { return {const_cast<char*>(data), dtype, rows, cols, ld}; }
};

/// One head, a block of its queries at a time.
class Head {
public:
    Head(const Attention& attention, const AttentionDropout& dropout, std::int64_t index)
        : a_(attention), dropout_(dropout), index_(index) {}

    std::int64_t block_rows() const {
        return std::clamp<std::int64_t>(scores_at_once / a_.keys, 1, a_.queries);
    }
    /// This head's rows of a tensor that has one for each query, or for each key.
    Rows queries(const void* data, const AttentionStrides& strides, std::int64_t cols) const {
        return rows_of(data, strides, a_.queries, cols);
    }
    Rows keys(const void* data, const AttentionStrides& strides, std::int64_t cols) const {
        return rows_of(data, strides, a_.keys, cols);
    }

    /// Weights of queries first, first + 1, ... before dropout: (q.rows, S) f32.
    float* weights(const Rows& q, const Rows& k, std::int64_t first) const {
        float* const out = scratch<float>(Scratch::attention_scores, count(q.rows));
        gemm({out, DType::f32, q.rows, a_.keys, a_.keys}, q.matrix(), k.transposed(),
             {.alpha = static_cast<double>(a_.scale)}, {});
        if (a_.causal) hide_later_keys(out, q.rows, first);
        softmax_forward(array(out, q.rows), array(out, q.rows), q.rows, a_.keys,
                        SoftmaxForm::masked, {});
        return out;
    }

    bool drops() const { return dropout_.p > 0; }
    /// Draws the mask of these rows and keeps it until the next block.
    void draw(std::int64_t rows, std::int64_t first) const {
        MaskSource source = dropout_.source;
        source.offset += static_cast<std::uint64_t>((index_ * a_.queries + first) * a_.keys);
        dropout_mask(mask(rows), source, dropout_.p, {});
    }
    /// to = from where the mask keeps it, times the scale; both (rows, S).
    void drop(float* to, const float* from, std::int64_t rows) const {
        const double scale = dropout_.p == 1 ? 0 : 1 / (1 - dropout_.p);
        dropout_apply(array(to, rows), array(from, rows), mask(rows), scale, {});
    }

    /// (rows, S) in the operands' type.
    Rows low(const float* values, std::int64_t rows) const {
        const void* data = values;
        if (a_.dtype != DType::f32) {
            void* const out =
                scratch_bytes(Scratch::attention_low,
                              count(rows) * static_cast<std::size_t>(element_bytes(a_.dtype)));
            cast({out, a_.dtype, rows * a_.keys}, array(values, rows), {});
            data = out;
        }
        return {static_cast<const char*>(data), a_.dtype, rows, a_.keys, a_.keys};
    }

    std::size_t count(std::int64_t rows) const { return static_cast<std::size_t>(rows * a_.keys); }
    Array array(float* data, std::int64_t rows) const { return {data, DType::f32, rows * a_.keys}; }
    ConstArray array(const float* data, std::int64_t rows) const {
        return {data, DType::f32, rows * a_.keys};
    }

private:
    Rows rows_of(const void* data, const AttentionStrides& strides, std::int64_t rows,
                 std::int64_t cols) const {
        const std::int64_t first =
            index_ / a_.heads * strides.batch + index_ % a_.heads * strides.head;
        return {static_cast<const char*>(data) + first * element_bytes(a_.dtype), a_.dtype, rows,
                cols, strides.row};
    }
    Array mask(std::int64_t rows) const {
        return {scratch_bytes(Scratch::attention_mask, count(rows)), DType::boolean,
                rows * a_.keys};
    }
    void hide_later_keys(float* scores, std::int64_t rows, std::int64_t first) const {
        for (std::int64_t i = 0; i < rows; ++i) {
            float* const row = scores + i * a_.keys;
            std::fill(row + std::min(first + i + 1, a_.keys), row + a_.keys,
                      -std::numeric_limits<float>::infinity());
        }
    }

    const Attention& a_;
    const AttentionDropout& dropout_;
    std::int64_t index_;
};

void forward_head(const Attention& a, const AttentionForwardData& data, const Head& head) {
    const Rows q = head.queries(data.q, a.q, a.qk_size), k = head.keys(data.k, a.k, a.qk_size),
               v = head.keys(data.v, a.v, a.v_size), y = head.queries(data.y, a.y, a.v_size);
    for (std::int64_t first = 0; first < a.queries; first += head.block_rows()) {
        const std::int64_t rows = std::min(head.block_rows(), a.queries - first);
        float* const weights = head.weights(q.from(first, rows), k, first);
        if (head.drops()) {
            head.draw(rows, first);
            head.drop(weights, weights, rows);
        }
        gemm(y.from(first, rows).out(), head.low(weights, rows).matrix(), v.matrix(), {}, {});
    }
}

/// A gradient of k or v, which every block of queries adds to.
class BlockSum {
public:
    /// `sums`: where 16-bit gradients are added up in f32; null: in place.
    BlockSum(const Rows& out, float* sums) : out_(out), sums_(sums) {}

    /// alpha * a^T b more.
    void add(const Rows& a, const Rows& b, double alpha, bool first) {
        const Matrix to = sums_ == nullptr
                              ? out_.out()
                              : Matrix{sums_, DType::f32, out_.rows, out_.cols, out_.cols};
        gemm(to, a.transposed(), b.matrix(), {.alpha = alpha, .beta = first ? 0.0 : 1.0}, {});
    }
    void finish() {
        if (sums_ == nullptr) return;
        for (std::int64_t i = 0; i < out_.rows; ++i)
            cast({out_.from(i, 1).out().data, out_.dtype, out_.cols},
                 ConstArray(sums_ + i * out_.cols, DType::f32, out_.cols), {});
    }

private:
    Rows out_;
    float* sums_;
};

void backward_head(const Attention& a, const AttentionBackwardData& data, const Head& head) {
    const Rows q = head.queries(data.q, a.q, a.qk_size), k = head.keys(data.k, a.k, a.qk_size),
               v = head.keys(data.v, a.v, a.v_size), dy = head.queries(data.dy, a.dy, a.v_size),
               dq = head.queries(data.dq, a.dq, a.qk_size);
    const std::int64_t of_k = a.keys * a.qk_size, of_v = a.keys * a.v_size;
    const bool in_place = head.block_rows() == a.queries || a.dtype == DType::f32;
    float* const sums =
        in_place ? nullptr
                 : scratch<float>(Scratch::attention_sums, static_cast<std::size_t>(of_k + of_v));
    BlockSum dk(head.keys(data.dk, a.dk, a.qk_size), sums);
    BlockSum dv(head.keys(data.dv, a.dv, a.v_size), in_place ? nullptr : sums + of_k);
    for (std::int64_t first = 0; first < a.queries; first += head.block_rows()) {
        const std::int64_t rows = std::min(head.block_rows(), a.queries - first);
        const Rows q_block = q.from(first, rows), dy_block = dy.from(first, rows);
        float* const weights = head.weights(q_block, k, first);
        float* const other = scratch<float>(Scratch::attention_kept, head.count(rows));
        if (head.drops()) {
            head.draw(rows, first);
            head.drop(other, weights, rows);
        }
        dv.add(head.low(head.drops() ? other : weights, rows), dy_block, 1, first == 0);
        gemm({other, DType::f32, rows, a.keys, a.keys}, dy_block.matrix(), v.transposed(), {}, {});
        if (head.drops()) head.drop(other, other, rows);
        softmax_backward(head.array(other, rows), head.array(other, rows),
                         head.array(weights, rows), rows, a.keys, /*log=*/false, {});
        const Rows dscores = head.low(other, rows);
        const double scale = static_cast<double>(a.scale);
        gemm(dq.from(first, rows).out(), dscores.matrix(), k.matrix(), {.alpha = scale}, {});
        dk.add(dscores, q_block, scale, first == 0);
    }
    dk.finish();
    dv.finish();
}

template <class F>
void for_each_head(const Attention& a, const AttentionDropout& dropout, const F& f) {
    assert(a.kv_heads == a.heads && a.queries > 0 && a.keys > 0);
    const std::int64_t work = a.queries * a.keys * (a.qk_size + a.v_size);
    parallel_for(a.batch * a.heads, thread_grain / (work + 1) + 1,
                 [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i) f(Head(a, dropout, i));
                 });
}

}  // namespace

void attention_forward(const Attention& attention, const AttentionForwardData& data,
                       const AttentionDropout& dropout) {
    for_each_head(attention, dropout,
                  [&](const Head& head) { forward_head(attention, data, head); });
}

void attention_backward(const Attention& attention, const AttentionBackwardData& data,
                        const AttentionDropout& dropout) {
    for_each_head(attention, dropout,
                  [&](const Head& head) { backward_head(attention, data, head); });
}

}  // namespace kernels::cpu
