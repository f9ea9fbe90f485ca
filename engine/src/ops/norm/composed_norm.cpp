#include "ops/norm/composed_norm.h"

#include "amp/autocast.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/inplace.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"

namespace engine {
namespace {

double epsilon_or(double own) {
    const double epsilon = ComputeContext::of_thread().composed_norms.value_or(0);
    return epsilon > 0 ? epsilon : own;
}

Tensor shaped(const Tensor& parameter, const Shape& shape, DType dtype) {
    return reshape(to(parameter, dtype), shape);
}

struct Moments {
    Tensor mean, variance;
};

Moments moments_of(const Tensor& x, const std::vector<std::int64_t>& dims) {
    const Tensor m = mean(x, dims, /*keepdim=*/true);
    return {m, sub(mean(mul(x, x), dims, /*keepdim=*/true), mul(m, m))};
}

Tensor normalised(const Tensor& x, const Moments& of, double eps) {
    return div(sub(x, of.mean), sqrt(add(of.variance, eps)));
}

Tensor scaled(const Tensor& y, const Tensor& weight, const Tensor& bias, const Shape& shape) {
    const Tensor product = weight.defined() ? mul(y, shaped(weight, shape, y.dtype())) : y;
    return bias.defined() ? add(product, shaped(bias, shape, y.dtype())) : product;
}

/// running = (1 - momentum) running + momentum now, in place.
void follow(const Tensor& running, const Tensor& now, double momentum) {
    if (!running.defined()) return;
    const GradMode off(false);
    const Tensor next =
        add(mul(running, 1 - momentum),
            mul(reshape(to(now.detach(), running.dtype()), running.shape()), momentum));
    copy_(running, next);
}

}  // namespace

Tensor composed_batch_norm(const Tensor& x0, const Tensor& weight, const Tensor& bias,
                           const Tensor& running_mean, const Tensor& running_var, bool training,
                           double momentum, double eps) {
    const Tensor x = autocast_to_low(x0);  // in f32 nothing would overflow
    const NoAutocast inside(x.device().kind);
    Shape shape;
    std::vector<std::int64_t> dims;
    for (int i = 0; i < x.rank(); ++i) {
        shape.push_back(i == 1 ? x.size(1) : 1);
        if (i != 1) dims.push_back(i);
    }
    Moments moments;
    if (training) {
        moments = moments_of(x, dims);
        const auto count = static_cast<double>(x.numel()) / static_cast<double>(x.size(1));
        follow(running_mean, moments.mean, momentum);
        follow(running_var, mul(moments.variance.detach(), count / (count - 1)), momentum);
    } else {
        moments = {shaped(running_mean, shape, x.dtype()), shaped(running_var, shape, x.dtype())};
    }
    return scaled(normalised(x, moments, epsilon_or(eps)), weight, bias, shape);
}

Tensor composed_layer_norm(const Tensor& x0, const Tensor& weight, const Tensor& bias, double eps) {
    const Tensor x = autocast_to_low(x0);  // in f32 nothing would overflow
    const NoAutocast inside(x.device().kind);
    const Shape shape{x.size(x.rank() - 1)};
    return scaled(normalised(x, moments_of(x, {-1}), epsilon_or(eps)), weight, bias, shape);
}

}  // namespace engine
