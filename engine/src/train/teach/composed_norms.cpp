#include "train/teach/composed_norms.h"

#include "amp/autocast.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/inplace.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"

namespace engine {
namespace {

constexpr double batch_eps = 1e-5, batch_momentum = 0.1;

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
void follow(const Tensor& running, const Tensor& now) {
    if (!running.defined()) return;
    const GradMode off(false);
    const Tensor next =
        add(mul(running, 1 - batch_momentum),
            mul(reshape(to(now.detach(), running.dtype()), running.shape()), batch_momentum));
    copy_(running, next);
}

class ComposedNorms final : public Norms {
public:
    /// `epsilon`: 0: that of each layer.
    explicit ComposedNorms(double epsilon) : epsilon_(epsilon) {}

    Tensor batch(const Tensor& x0, const BatchNormTensors& t, bool training) const override {
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
            follow(t.running_mean, moments.mean);
            follow(t.running_var, mul(moments.variance.detach(), count / (count - 1)));
        } else {
            moments = {shaped(t.running_mean, shape, x.dtype()),
                       shaped(t.running_var, shape, x.dtype())};
        }
        return scaled(normalised(x, moments, epsilon_or(batch_eps)), t.weight, t.bias, shape);
    }
    Tensor batch_relu(const Tensor& x, const Tensor& residual, const BatchNormTensors& t,
                      bool training) const override {
        const Tensor y = batch(x, t, training);
        return relu(residual.defined() ? add(y, residual) : y);
    }
    Tensor layer(const Tensor& x0, const Tensor& weight, const Tensor& bias,
                 double eps) const override {
        const Tensor x = autocast_to_low(x0);  // in f32 nothing would overflow
        const NoAutocast inside(x.device().kind);
        const Shape shape{x.size(x.rank() - 1)};
        return scaled(normalised(x, moments_of(x, {-1}), epsilon_or(eps)), weight, bias, shape);
    }
    bool join_sums() const override { return false; }

private:
    double epsilon_or(double own) const { return epsilon_ > 0 ? epsilon_ : own; }

    double epsilon_;
};

}  // namespace

std::unique_ptr<Norms> make_composed_norms(const TeachConfig& teach) {
    if (teach.norm != TeachNorm::composed) return nullptr;
    return std::make_unique<ComposedNorms>(teach.norm_epsilon);
}

}  // namespace engine
