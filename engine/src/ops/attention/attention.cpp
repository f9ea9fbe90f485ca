#include "ops/attention/attention.h"

#include <cmath>
#include <limits>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/attention/attention_parts.h"
#include "ops/linalg/matmul.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/dropout.h"
#include "ops/reduce/softmax.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/layout.h"

namespace engine {
namespace {

constexpr double least = -std::numeric_limits<double>::infinity();

constexpr Op weighted_op("attention_values(weights, v)",
                         "The weights are f32; the product takes them in v's type.");

/// weights v with the weights rounded to v's type. The weights' gradient stays in their own.
Tensor weighted_values(const Tensor& weights, const Tensor& v) {
    Tensor y;
    {
        const GradMode off(false);
        y = product(to(weights, v.dtype()), false, v, false);
    }
    const Tensor inputs[] = {weights, v};
    return record_many(weighted_op, inputs, y, {save(weights), save(v)},
                       [](std::span<const Tensor> grads, const Saved& saved) {
                           const Tensor &dy = grads[0], kept = saved[0], v_kept = saved[1];
                           TensorList out(2);
                           if (saved.needs_gradient(0))
                               out[0] = wide_product(dy, false, v_kept, true);
                           if (saved.needs_gradient(1))
                               out[1] = product(to(kept, v_kept.dtype()), true, dy, false);
                           return out;
                       });
}

Shape with(Shape lead, std::int64_t rows, std::int64_t cols) {
    lead.push_back(rows);
    lead.push_back(cols);
    return lead;
}

/// x as (batch, rows, cols) with its leading dimensions broadcast to `lead`.
Tensor batched(const Tensor& x, const Shape& lead) {
    const std::int64_t rows = x.size(x.rank() - 2), cols = x.size(x.rank() - 1);
    return reshape(expand(x, with(lead, rows, cols)), {lead.numel(), rows, cols});
}

/// Leading dimensions of x (k or v) once each of its heads serves a group of q's.
Shape repeated_leading(const Tensor& x, const Tensor& q) {
    const int head = x.rank() - 3;
    if (x.rank() < 3 || q.rank() < 3 || x.size(head) == 0 ||
        q.size(q.rank() - 3) % x.size(head) != 0) {
        throw Error(ErrorCode::shape, std::string(scaled_dot_product_attention_op.name) +
                                          ": the heads of " + to_string(x.shape()) +
                                          " do not divide those of " + to_string(q.shape()));
    }
    Shape lead = leading_dims(x);
    lead[head] = q.size(q.rank() - 3);
    return lead;
}

/// True at and below the diagonal. A strided view of a run of false followed by a run of true, so
/// that nothing is copied from the host.
Tensor causal_mask(std::int64_t rows, std::int64_t cols, const Device& device) {
    if (rows == 0 || cols == 0) return Tensor::empty({rows, cols}, DType::boolean, device);
    const Tensor run = cat({Tensor::full({cols - 1}, 0, DType::boolean, device),
                            Tensor::full({rows}, 1, DType::boolean, device)},
                           0);
    const Tensor mask = Tensor::empty({rows, cols}, DType::boolean, device);
    copy_into(mask, view_of(run, {rows, cols}, {1, -1}, cols - 1));
    return mask;
}

constexpr Op causal_op("attention_causal(scores)", "Its scores are in f32 already.");

/// Scores with -inf above the diagonal, as PyTorch's fused kernels write it. The gradient passes
/// unchanged: the softmax makes it 0 there, or NaN.
Tensor causal(const Tensor& scores) {
    Tensor y;
    {
        const GradMode off(false);
        const int last = scores.rank() - 1;
        y = where(causal_mask(scores.size(last - 1), scores.size(last), scores.device()), scores,
                  Tensor::full({}, least, scores.dtype(), scores.device()));
    }
    return record(causal_op, {scores}, y, {}, [](const Tensor& dy, const Saved&) { return dy; });
}

/// The addend for the scores: 0 where a boolean mask is true, -inf elsewhere.
Tensor added_mask(const Tensor& mask, const Tensor& scores) {
    if (mask.dtype() != DType::boolean) return widened(mask);
    const Tensor pass = Tensor::zeros({}, scores.dtype(), scores.device());
    return where(mask, pass, Tensor::full({}, least, scores.dtype(), scores.device()));
}

/// Scores in f32 (f64 for f64) with their mask. As in PyTorch the mask is added, not selected by,
/// so a NaN or infinity reaches the result and the gradient.
Tensor masked(const Tensor& scores, const Tensor& mask, bool is_causal) {
    if (scores.numel() == 0) return scores;
    if (mask.defined()) return add(scores, added_mask(mask, scores));
    return is_causal ? causal(scores) : scores;
}

void check(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
           const AttentionOptions& options) {
    const Op& info = scaled_dot_product_attention_op;
    const bool added = mask.defined() && mask.dtype() != DType::boolean;
    one_type(info, {q, k, v, added ? mask : Tensor()});
    check_shapes(info, q.rank() >= 2 && k.rank() >= 2, q, k);
    check_shapes(info, v.rank() >= 2, k, v);
    check_shapes(info, q.shape().back() == k.shape().back(), q, k);
    check_shapes(info, k.size(k.rank() - 2) == v.size(v.rank() - 2), k, v);
    if (mask.defined() && options.is_causal) {
        throw Error(ErrorCode::value,
                    std::string(info.name) + ": give a mask or is_causal, not both");
    }
    detail::check_dropout(info, options);
}

/// x as (N, heads, rows, cols): its leading dimensions broadcast to `batch` and `heads`.
Tensor with_heads(const Tensor& x, Shape batch, std::int64_t heads) {
    const std::int64_t n = batch.numel(), rows = x.size(x.rank() - 2), cols = x.size(x.rank() - 1);
    batch.push_back(heads);
    return reshape(expand(x, with(batch, rows, cols)), {n, heads, rows, cols});
}

Shape without_last(const Shape& lead) {
    Shape batch;
    for (int i = 0; i + 1 < lead.rank(); ++i) batch.push_back(lead[i]);
    return batch;
}

/// Attention by the device's kernel, which supports grouped heads directly; undefined if it has
/// none.
Tensor fused(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options,
             const Shape& lead) {
    if (!detail::may_be_fused(q, k, v, options)) return {};
    const Shape batch = without_last(lead);
    const std::int64_t heads = lead.rank() > 0 ? lead[lead.rank() - 1] : 1;
    const auto heads_of = [&](const Tensor& x) {
        return options.enable_gqa ? x.size(x.rank() - 3) : heads;
    };
    const auto made = detail::fused_attention(
        scaled_dot_product_attention_op, with_heads(q, batch, heads),
        with_heads(k, batch, heads_of(k)), with_heads(v, batch, heads_of(v)), options);
    if (!made) return {};
    return reshape(made->y, with(lead, q.size(q.rank() - 2), v.shape().back()));
}

}  // namespace

namespace detail {

void check_dropout(const Op& info, const AttentionOptions& options) {
    const double p = options.dropout_p;
    const std::string name(info.name);
    if (!(p >= 0 && p <= 1)) {
        throw Error(ErrorCode::value,
                    name + ": dropout_p must lie in [0, 1], not be " + std::to_string(p));
    }
    if (p > 0 && !options.random)
        throw Error(ErrorCode::value, name + ": dropout_p needs a stream of random numbers");
}

Tensor repeated_heads(const Tensor& x, const Tensor& q) {
    const int head = x.rank() - 3;
    const std::int64_t times = q.size(q.rank() - 3) / x.size(head);
    if (times == 1) return x;
    Shape apart, wide, merged = x.shape();
    for (int i = 0; i < x.rank(); ++i) {
        apart.push_back(x.size(i));
        wide.push_back(x.size(i));
        if (i == head) {
            apart.push_back(1);
            wide.push_back(times);
        }
    }
    merged[head] *= times;
    return reshape(expand(reshape(x, apart), wide), merged);
}

Attended attend(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                const AttentionOptions& options, const Shape& lead) {
    const std::int64_t queries = q.size(q.rank() - 2), keys = k.size(k.rank() - 2);
    const double scale =
        options.scale.value_or(1 / std::sqrt(static_cast<double>(q.shape().back())));
    const Tensor products = wide_product(batched(q, lead), false, batched(k, lead), true, scale);
    const Tensor scores =
        masked(reshape(products, with(lead, queries, keys)), mask, options.is_causal);
    Tensor weights = scores.numel() == 0 ? softmax(scores, -1) : masked_softmax(scores);
    if (options.dropout_p > 0)
        weights = dropout(weights, options.dropout_p, *options.random, options.random_offset);
    const Tensor y =
        weighted_values(reshape(weights, {lead.numel(), queries, keys}), batched(v, lead));
    return {reshape(y, with(lead, queries, v.shape().back())), scores};
}

}  // namespace detail

Tensor scaled_dot_product_attention(const Tensor& q0, const Tensor& k0, const Tensor& v0,
                                    const Tensor& mask0, const AttentionOptions& options) {
    return scaled_dot_product_attention_op.call(
        q0, k0, v0, mask0, options,
        [&](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask) {
            const Op& info = scaled_dot_product_attention_op;
            check(q, k, v, mask, options);
            const NoAutocast inside(q.device().kind);
            const bool grouped = options.enable_gqa;
            const Shape lead = broadcast_shapes(
                info.name,
                broadcast_shapes(info.name, leading_dims(q),
                                 grouped ? repeated_leading(k, q) : leading_dims(k)),
                grouped ? repeated_leading(v, q) : leading_dims(v));
            const Shape full = with(lead, q.size(q.rank() - 2), k.size(k.rank() - 2));
            if (mask.defined()) {
                const bool fits = mask.rank() <= full.rank() &&
                                  broadcast_shapes(info.name, mask.shape(), full) == full;
                check_shapes(info, fits, mask, q);
            }
            if (!mask.defined()) {
                const Tensor y = fused(q, k, v, options, lead);
                if (y.defined()) return y;
            }
            return detail::attend(q, grouped ? detail::repeated_heads(k, q) : k,
                                  grouped ? detail::repeated_heads(v, q) : v, mask, options, lead)
                .y;
        });
}

}  // namespace engine
