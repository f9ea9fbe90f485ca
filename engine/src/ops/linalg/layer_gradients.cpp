#include "ops/linalg/layer_gradients.h"

#include "amp/autocast.h"
#include "amp/watched.h"
#include "ops/linalg/gemm_operand.h"
#include "ops/linalg/matmul.h"

namespace engine {
namespace {

/// Whether product() would multiply these very tensors.
bool are_taken_as_they_are(const Tensor& dy, const Tensor& x) {
    if (dy.dtype() != x.dtype()) return false;
    const auto [a, b] = autocast(mm_info, dy, x);
    return a.dtype() == dy.dtype() && b.dtype() == x.dtype();
}

}  // namespace

std::optional<LayerGradients> layer_gradients(const Tensor& dy, const Tensor& x,
                                              WeightShape shape) {
    if (grad_enabled() || is_watched()) return {};
    const bool plain = dy.rank() == 2 && x.rank() == 2 && dy.size(0) == x.size(0) &&
                       dy.is_contiguous() && dy.numel() > 0 && x.numel() > 0;
    if (!plain || !are_taken_as_they_are(dy, x)) return {};
    const std::int64_t in = x.size(1), out = dy.size(1);
    const Tensor bias = Tensor::empty({out}, dy.dtype(), dy.device());
    if (shape == WeightShape::out_in) {
        const Tensor weight = Tensor::empty({out, in}, dy.dtype(), dy.device());
        gemm(weight, operand(dy, true), operand(x, false), {.sums_of_a = bias.data()});
        return LayerGradients{weight, bias};
    }
    const Tensor weight = Tensor::empty({in, out}, dy.dtype(), dy.device());
    gemm(weight, operand(x, true), operand(dy, false), {.sums_of_b = bias.data()});
    return LayerGradients{weight, bias};
}

}  // namespace engine
