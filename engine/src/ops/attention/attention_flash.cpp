#include <limits>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/attention/attention_parts.h"
#include "ops/pointwise/compare.h"
#include "ops/reduce/softmax.h"
#include "tensor/check.h"

namespace engine {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Checks that PyTorch's kernel takes these shapes. It takes no causal mask over another number of
/// keys than queries: its implementations align the diagonal differently there.
void check(const Op& info, const Tensor& q, const Tensor& k, const Tensor& v,
           const AttentionOptions& options) {
    one_type(info, {q, k, v});
    check_rank(info, q, 4);
    check_rank(info, k, 4);
    check_shapes(info, q.size(0) == k.size(0) && q.size(1) == k.size(1) && q.size(3) == k.size(3),
                 q, k);
    check_shapes(info, k.shape() == v.shape(), k, v);
    if (options.enable_gqa)
        throw Error(ErrorCode::value, std::string(info.name) + ": enable_gqa is not there");
    if (options.is_causal && q.size(2) != k.size(2)) {
        throw Error(ErrorCode::value, std::string(info.name) +
                                          ": is_causal needs as many keys as queries, not " +
                                          to_string(q.shape()) + " and " + to_string(k.shape()));
    }
    detail::check_dropout(info, options);
}

/// A row without a sum has an infinite one. Outside the graph.
Tensor or_infinite(const Tensor& sums) {
    const auto number = [&](double value) {
        return Tensor::full({}, value, sums.dtype(), sums.device());
    };
    return where(greater(sums, number(-infinite)), sums, number(infinite));
}

Tensor row_logsumexp(const Tensor& scores) {
    const Shape rows{scores.size(0), scores.size(1), scores.size(2)};
    if (scores.size(3) == 0) return Tensor::full(rows, infinite, scores.dtype(), scores.device());
    return or_infinite(logsumexp(scores, {-1}));
}

}  // namespace

TensorList scaled_dot_product_flash_attention(const Tensor& q0, const Tensor& k0, const Tensor& v0,
                                              const AttentionOptions& options) {
    return scaled_dot_product_flash_attention_op.call(
        q0, k0, v0, options, [&](const Tensor& q, const Tensor& k, const Tensor& v) -> TensorList {
            const Op& info = scaled_dot_product_flash_attention_op;
            check(info, q, k, v, options);
            const NoAutocast inside(q.device().kind);
            if (q.device().kind == Device::Kind::cuda) {  // a CPU's kernel writes no logsumexp
                if (const auto made = detail::fused_attention(info, q, k, v, options)) {
                    const GradMode off(false);
                    return {made->y, or_infinite(made->logsumexp)};
                }
            }
            const auto made = detail::attend(q, k, v, {}, options, {q.size(0), q.size(1)});
            const GradMode off(false);
            return {made.y, row_logsumexp(made.scores)};
        });
}

}  // namespace engine
