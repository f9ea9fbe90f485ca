#include "nn/attention.h"

#include <cmath>

#include "engine/base/error.h"
#include "ops/linalg/linear.h"
#include "ops/shape/view.h"

namespace engine {
namespace {

/// (..., sequence, width) -> (..., heads, sequence, width / heads)
Tensor split_heads(const Tensor& x, std::int64_t heads) {
    const int last = x.rank() - 1;
    Shape shape;
    for (int i = 0; i < last; ++i) shape.push_back(x.size(i));
    shape.push_back(heads);
    shape.push_back(x.size(last) / heads);
    return transpose(reshape(x, shape), last - 1, last);
}
Tensor merge_heads(const Tensor& x) {
    const Tensor by_position = transpose(x, x.rank() - 3, x.rank() - 2);
    return flatten(by_position, -2, -1);
}

}  // namespace

MultiheadAttention::MultiheadAttention(TensorRegistry& registry, const std::string& name,
                                       std::int64_t width, std::int64_t num_heads_, double dropout_,
                                       bool has_biases)
    : module(name), out_module(name + ".out_proj"), num_heads(num_heads_), dropout(dropout_) {
    if (num_heads < 1 || width % num_heads != 0) {
        throw Error(ErrorCode::value, "MultiheadAttention: " + std::to_string(num_heads) +
                                          " heads do not divide a width of " +
                                          std::to_string(width));
    }
    const auto size = static_cast<double>(width);
    in_proj_weight = registry.uniform(name + ".in_proj_weight", {3 * width, width},
                                      std::sqrt(6.0 / (4 * size)), true);
    if (has_biases) in_proj_bias = registry.constant(name + ".in_proj_bias", {3 * width}, 0);
    out_weight =
        registry.uniform(name + ".out_proj.weight", {width, width}, 1 / std::sqrt(size), true);
    if (has_biases) out_bias = registry.constant(name + ".out_proj.bias", {width}, 0);
}

Tensor MultiheadAttention::attend(const Tensor& q, const Tensor& k, const Tensor& v,
                                  const Call& call) const {
    const Tensor y = scaled_dot_product_attention(
        split_heads(q, num_heads), split_heads(k, num_heads), split_heads(v, num_heads), call.mask,
        {.dropout_p = call.training ? dropout : 0,
         .is_causal = call.is_causal,
         .random = call.random,
         .random_offset = call.random_offset});
    const Tensor merged = merge_heads(y);
    const ModuleScope opened(out_module);
    return linear(merged, out_weight, out_bias);
}

Tensor MultiheadAttention::operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                                      const Call& call) const {
    const ModuleScope opened(module);
    const std::int64_t width = out_weight.size(0);
    const auto projected = [&](const Tensor& x, std::int64_t part) {
        const auto rows = [&](const Tensor& t) {
            return t.defined() ? narrow(t, 0, part * width, width) : t;
        };
        return linear(x, rows(in_proj_weight), rows(in_proj_bias));
    };
    return attend(projected(query, 0), projected(key, 1), projected(value, 2), call);
}

Tensor MultiheadAttention::operator()(const Tensor& x, const Call& call) const {
    const ModuleScope opened(module);
    // One product for the three projections, and its weight is cast once.
    const std::int64_t width = out_weight.size(0);
    const Tensor all = linear(x, in_proj_weight, in_proj_bias);
    const auto part = [&](std::int64_t k) { return narrow(all, -1, k * width, width); };
    return attend(part(0), part(1), part(2), call);
}

}  // namespace engine
