#include "nn/transformer.h"

#include "amp/dispatch.h"
#include "autograd/shown_parts.h"
#include "ops/attention/attention.h"
#include "ops/attention/scaled_scores.h"
#include "ops/linalg/products.h"
#include "ops/norm/norms.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/dropout.h"
#include "ops/shape/view.h"

namespace engine {
namespace {

/// (rows, width) -> (samples, heads, tokens, width / heads)
Tensor split_heads(const Tensor& x, const TokenRows& of, std::int64_t heads) {
    return transpose(reshape(x, {of.samples, of.tokens, heads, x.size(1) / heads}), 1, 2);
}

}  // namespace

Tensor Dropout::operator()(const Tensor& x, DropoutDraws& draws) const {
    if (p == 0 || !draws.source()) return x;
    const ModuleScope opened(module);
    return dropout(x, p, *draws.source(), draws.take(x.numel()));
}

LayerNorm::LayerNorm(TensorRegistry& registry, const std::string& name, std::int64_t width,
                     double eps_)
    : module(name),
      weight(registry.constant(name + ".weight", {width}, 1)),
      bias(registry.constant(name + ".bias", {width}, 0)),
      eps(eps_) {}

Tensor LayerNorm::operator()(const Tensor& x) const {
    const ModuleScope opened(module);
    return Norms::of_thread().layer(x, weight, bias, eps);
}

SumAndNorm LayerNorm::of_sum(const Tensor& x, const Tensor& around) const {
    if (!Norms::of_thread().join_sums() || !can_fuse_add_layer_norm(x, around, weight, bias)) {
        const Tensor sum = add(x, around);
        return {sum, (*this)(sum)};
    }
    const auto together = [&] {
        const ModuleScope opened(module);
        const SumAndNorm y = add_layer_norm(x, around, weight, bias, eps);
        return TensorList{y.sum, y.normed};
    };
    const auto apart = [norm = *this](const TensorList& in) {
        LayerNorm own = norm;
        own.weight = in[2];
        own.bias = in[3];
        const Tensor sum = add(in[0], in[1]);
        return TensorList{sum, own(sum)};
    };
    // The node keeps the sum alone: that of itself and of zeros, which take no memory.
    const auto kept = [&](const TensorList& y) {
        return TensorList{expand(Tensor::zeros({}, x.dtype(), x.device()), x.shape()),
                          y[0].detach(), weight, bias};
    };
    const TensorList y = operations_are_observed()
                             ? show_parts({x, around, weight, bias}, together, apart, kept)
                             : together();
    return {y[0], y[1]};
}

bool LayerNorm::may_join_sum() noexcept {
    return !types_are_forced() && Norms::of_thread().join_sums();
}

Conv1D::Conv1D(TensorRegistry& registry, const std::string& name, std::int64_t in, std::int64_t out,
               double deviation)
    : module(name),
      weight(registry.normal(name + ".weight", {in, out}, deviation, true)),
      bias(registry.constant(name + ".bias", {out}, 0, true)) {}

Tensor Conv1D::operator()(const Tensor& x) const {
    const ModuleScope opened(module);
    return addmm(bias, x, weight);
}

Tensor AttentionHeads::operator()(const Tensor& q, const Tensor& k, const Tensor& v,
                                  const TokenRows& of, DropoutDraws& draws) const {
    AttentionOptions options{.is_causal = is_causal};
    if (dropout.p > 0 && draws.source()) {
        options.dropout_p = dropout.p;
        options.random = draws.source();
        options.random_offset = draws.take(this->draws(of));
    }
    const auto split = [&](const Tensor& x) { return split_heads(x, of, heads); };
    const Tensor y = ScaledScores::take_call()
                         ? attention_of_scaled_scores(split(q), split(k), split(v), is_causal)
                         : scaled_dot_product_attention(split(q), split(k), split(v), {}, options);
    return reshape(transpose(y, 1, 2), {of.rows(), q.size(1)});
}

}  // namespace engine
