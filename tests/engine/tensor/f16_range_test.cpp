#include "tensor/f16_range.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "autograd/backward.h"
#include "ops/norm/batch_norm.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/sum.h"
#include "tensor/cast.h"

namespace engine {
namespace {

/// The largest magnitude, value by value.
class Reference final : public OpObserver {
public:
    void on_op(const OpEvent&) override {}
    void on_gradient(const Op&, const Tensor& gradient) override {
        if (gradient.dtype() != DType::f16) return;
        for (const double value : gradient.values()) largest = std::max(largest, std::fabs(value));
    }
    double largest = 0;
};

Tensor numbers(const Shape& shape, double size, DType dtype) {
    std::vector<double> values(static_cast<std::size_t>(shape.numel()));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = size * std::sin(static_cast<double>(i * i + 1));
    Tensor out = Tensor::of(values, shape, dtype);
    return out.set_requires_grad(true);
}

/// Two batch norms of f16 images, one after the other; `weight` of the first decides whose
/// gradients are largest.
Tensor loss_of(double weight, double factor) {
    const Shape images{4, 2, 3, 3}, channels{2};
    const Tensor x = numbers(images, 1, DType::f16);
    const Tensor inner = batch_norm_relu(x, {}, numbers(channels, weight, DType::f32),
                                         numbers(channels, 1, DType::f32), {}, {}, true, 0.1, 1e-5);
    const Tensor y = batch_norm(inner, numbers(channels, 1, DType::f32),
                                numbers(channels, 1, DType::f32), {}, {}, true, 0.1, 1e-5);
    return sum(to(mul(y, numbers(images, factor, DType::f16).detach()), DType::f32));
}

float range_of(const Tensor& loss, const std::vector<const Op*>& claiming) {
    const Tensor largest = Tensor::zeros({}, DType::f32);
    {
        const F16Range range(largest, claiming);
        backward(loss);
    }
    return static_cast<float>(largest.item());
}

TEST(F16Range, FindsTheLargestGradientWhoeverTakesItAlong) {
    for (const double weight : {0.01, 1.0, 100.0}) {
        const double factor = 10;
        Reference reference;
        {
            const ObserverScope scope(reference);
            backward(loss_of(weight, factor));
        }
        ASSERT_GT(reference.largest, 0);
        const std::vector<std::vector<const Op*>> claims = {
            {},
            {&batch_norm_op},
            {&batch_norm_op, &batch_norm_relu_op},
            {&cast_op, &mul_op}};  // whose gradient functions take nothing along
        for (const auto& claiming : claims)
            EXPECT_EQ(range_of(loss_of(weight, factor), claiming),
                      static_cast<float>(reference.largest))
                << weight << ' ' << claiming.size();
    }
}

TEST(F16Range, KeepsInfinityAndNaN) {
    const std::vector<const Op*> claiming = {&batch_norm_op, &batch_norm_relu_op};
    EXPECT_FALSE(std::isfinite(range_of(loss_of(1, 1e6), claiming)));
    EXPECT_FALSE(std::isfinite(range_of(loss_of(1, 1e6), {})));
}

/// The gradients of two branches, each below `size`, meet in a batch norm that adds them itself.
Tensor loss_of_join(double size) {
    const Shape images{4, 2, 3, 3}, channels{2};
    const Tensor y =
        batch_norm_relu(numbers(images, 1, DType::f16), {}, numbers(channels, 1, DType::f32),
                        numbers(channels, 1, DType::f32), {}, {}, true, 0.1, 1e-5);
    const Tensor factor = numbers(images, size, DType::f16).detach();
    return sum(to(add(mul(y, factor), mul(y, mul(factor, 1.5))), DType::f32));
}

TEST(F16Range, FindsASumThatIsNeverStored) {
    for (const double size : {1.0, 1000.0, 10000.0}) {
        Reference reference;
        {
            const ObserverScope scope(reference);
            backward(loss_of_join(size));
        }
        const float largest = range_of(loss_of_join(size), {&batch_norm_relu_op});
        EXPECT_EQ(largest, static_cast<float>(reference.largest)) << size;
        EXPECT_GE(largest, 2.4 * size) << "two and a half times a part of at most " << size;
    }
}

TEST(F16Range, IsOffWhereNobodyAsks) {
    const Tensor gradient = numbers({3}, 1, DType::f16);
    EXPECT_EQ(F16Range::claim(gradient), nullptr);
    const Tensor largest = Tensor::zeros({}, DType::f32);
    const F16Range range(largest, {&batch_norm_op});
    EXPECT_EQ(F16Range::claim(gradient), nullptr) << "another operation's gradient";
}

}  // namespace
}  // namespace engine
