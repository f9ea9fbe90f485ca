#include "nn/layers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/sum.h"
#include "support/exact_values.h"
#include "support/op_log.h"
#include "tensor/cast.h"
#include "tensor/observer.h"

namespace engine {
namespace {

using test::bits;

Tensor linear_numbers(const Shape& shape, DType dtype, int seed) {
    return test::numbers(shape, dtype, seed).copy_to(default_device()).set_requires_grad(true);
}

struct LinearReluCase {
    Tensor x;
    Linear layer;
};

/// Two equal ones: gradients accumulate in their leaves.
LinearReluCase made_linear(DType dtype, const std::vector<double>& first = {}) {
    LinearReluCase out{linear_numbers({5, 7}, dtype, 1), {}};
    out.layer.module = ModuleName("fc");
    out.layer.weight = linear_numbers({9, 7}, dtype, 2);
    out.layer.bias = linear_numbers({9}, dtype, 3);
    if (!first.empty()) {
        std::vector<double> values = out.x.values();
        std::copy(first.begin(), first.end(), values.begin());
        out.x = Tensor::of(values, {5, 7}, dtype, default_device());
        out.x.set_requires_grad(true);
    }
    return out;
}

Tensor relu_apart(const LinearReluCase& c) { return relu(c.layer(c.x)); }
Tensor relu_together(const LinearReluCase& c) { return linear_relu(c.layer, c.x); }

void expect_equal_linear_gradients(const LinearReluCase& one, const LinearReluCase& two) {
    EXPECT_EQ(bits(one.x.grad()), bits(two.x.grad()));
    EXPECT_EQ(bits(one.layer.weight.grad()), bits(two.layer.weight.grad()));
    EXPECT_EQ(bits(one.layer.bias.grad()), bits(two.layer.bias.grad()));
}

/// The loss weighs results unevenly.
Tensor linear_loss(const Tensor& y) {
    return sum(mul(y, linear_numbers(y.shape(), y.dtype(), 4).detach()), {}, false, y.dtype());
}

TEST(LinearRelu, HasTheBitsOfTheTwoOpsAndOfTheirGradients) {
    for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
        const LinearReluCase one = made_linear(dtype), two = made_linear(dtype);
        const Tensor first = relu_apart(one), second = relu_together(two);
        ASSERT_EQ(second.impl()->node->info().name, "linear_relu") << "else nothing is compared";
        EXPECT_EQ(bits(first), bits(second)) << name(dtype);
        backward(linear_loss(first));
        backward(linear_loss(second));
        expect_equal_linear_gradients(one, two);
    }
}

TEST(LinearRelu, PassesInfinitiesAndNaNsAsTheTwoOps) {
    const std::vector<double> extremes = {INFINITY, 1, 1, 1, 1, 1,   1, -INFINITY, 0,
                                          0,        0, 0, 0, 0, NAN, 1, 1,         -0.0};
    for (const DType dtype : {DType::f32, DType::f16}) {
        const LinearReluCase one = made_linear(dtype, extremes), two = made_linear(dtype, extremes);
        const auto first = relu_apart(one).values(), second = relu_together(two).values();
        ASSERT_EQ(first.size(), second.size());
        for (std::size_t i = 0; i < first.size(); ++i) {
            EXPECT_EQ(std::isnan(first[i]), std::isnan(second[i]));
            if (!std::isnan(first[i])) {
                EXPECT_EQ(first[i], second[i]);
                EXPECT_EQ(std::signbit(first[i]), std::signbit(second[i]));
            }
        }
    }
}

TEST(LinearRelu, HasTheGradientsOfItsGradient) {
    const auto second_order = [](const LinearReluCase& c, const Tensor& y) {
        const Tensor loss = linear_loss(mul(y, y));
        const Tensor inputs[] = {c.x, c.layer.weight, c.layer.bias};
        const TensorList first =
            grad({&loss, 1}, inputs, {}, {.create_graph = true}, /*allow_unused=*/false);
        backward(linear_loss(mul(first[1], first[1])));
    };
    const LinearReluCase one = made_linear(DType::f64), two = made_linear(DType::f64);
    second_order(one, relu_apart(one));
    second_order(two, relu_together(two));
    expect_equal_linear_gradients(one, two);
}

TEST(LinearRelu, HasTheTypesOfTheTwoOpsInAnAutocastRegion) {
    const AutocastRegion region(default_device().kind, true, DType::bf16);
    const LinearReluCase one = made_linear(DType::f32), two = made_linear(DType::f32);
    const auto run = [&](const LinearReluCase& c, Tensor (*op)(const LinearReluCase&)) {
        const auto entered = region.enter();
        return op(c);
    };
    const Tensor first = run(one, relu_apart), second = run(two, relu_together);
    EXPECT_EQ(second.dtype(), DType::bf16);
    EXPECT_EQ(bits(first), bits(second));
    backward(linear_loss(first));
    backward(linear_loss(second));
    EXPECT_EQ(two.x.grad().dtype(), DType::f32);
    expect_equal_linear_gradients(one, two);
}

TEST(LinearRelu, IsTwoOpsForAnObserver) {
    OpLog log;
    const ObserverScope attached(log);
    relu_together(made_linear(DType::f32));
    EXPECT_EQ(log.forward, (std::vector<std::string>{"linear in fc", "relu in "}));
}

/// The gradient of the result is overwritten only where nobody else holds it.
TEST(LinearRelu, LeavesAGradientAloneThatAHookKeeps) {
    const LinearReluCase one = made_linear(DType::f32);
    const Tensor y = relu_together(one);
    Tensor kept;
    y.register_hook([&](const Tensor& gradient) { kept = gradient; });
    backward(sum(mul(y, 3.0)));
    ASSERT_TRUE(kept.defined());
    for (const double value : kept.values()) EXPECT_EQ(value, 3);
}

TEST(LinearRelu, MayBeDifferentiatedTwiceWhereTheGraphIsKept) {
    const LinearReluCase one = made_linear(DType::f32), two = made_linear(DType::f32);
    const Tensor first = linear_loss(relu_apart(one)), second = linear_loss(relu_together(two));
    for (int pass = 0; pass < 2; ++pass) {
        backward(first, {.retain_graph = true});
        backward(second, {.retain_graph = true});
    }
    expect_equal_linear_gradients(one, two);
}

}  // namespace
}  // namespace engine
