#include "ops/norm/layer_norm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "needs_cuda.h"
#include "ops/pointwise/binary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "support/exact_values.h"
#include "tensor/cast.h"

// add() and layer_norm() are the reference, bit for bit.
namespace engine {
namespace {

using test::bits;

Tensor numbers(const Shape& shape, DType dtype, int seed, const Device& device = {}) {
    return test::numbers(shape, dtype, seed).copy_to(device).detach().set_requires_grad(true);
}

struct Case {
    Case(DType x_type, DType type, DType parameters, const Device& device = {})
        : x(numbers({7, 9}, x_type, 1, device)),
          around(numbers({7, 9}, type, 2, device)),
          weight(numbers({9}, parameters, 3, device)),
          bias(numbers({9}, parameters, 4, device)) {}
    Tensor x, around, weight, bias;

    bool fuses() const { return can_fuse_add_layer_norm(x, around, weight, bias); }
};

SumAndNorm apart(const Case& c) {
    const Tensor sum = add(c.x, c.around);
    return {sum, layer_norm(sum, {9}, c.weight, c.bias, 1e-5)};
}
SumAndNorm together(const Case& c) {
    EXPECT_TRUE(c.fuses());
    return add_layer_norm(c.x, c.around, c.weight, c.bias, 1e-5);
}

Tensor weighed(const Tensor& y, int seed) {
    const Tensor weights = numbers(y.shape(), y.dtype(), seed, y.device()).detach();
    return sum(mul(y, weights), {}, false, y.dtype());
}

/// Uses of the results: the norm alone, the sum alone, or both.
enum class Uses { norm, sum, both };
Tensor loss_of(const SumAndNorm& y, Uses uses) {
    if (uses == Uses::norm) return weighed(y.normed, 5);
    if (uses == Uses::sum) return weighed(y.sum, 6);
    return add(weighed(y.sum, 6), weighed(y.normed, 5));
}

void expect_equal(const Tensor& a, const Tensor& b) {
    ASSERT_EQ(a.defined(), b.defined());
    if (!a.defined()) return;
    EXPECT_EQ(a.dtype(), b.dtype());
    EXPECT_EQ(bits(a), bits(b));
}
void expect_equal_gradients(const Case& one, const Case& two) {
    expect_equal(one.x.grad(), two.x.grad());
    expect_equal(one.around.grad(), two.around.grad());
    expect_equal(one.weight.grad(), two.weight.grad());
    expect_equal(one.bias.grad(), two.bias.grad());
}

void expect_equal_steps(DType x_type, DType type, DType parameters, const Device& device = {}) {
    for (const Uses uses : {Uses::norm, Uses::sum, Uses::both}) {
        SCOPED_TRACE(testing::Message() << name(x_type) << " beside " << name(type));
        const Case one(x_type, type, parameters, device), two(x_type, type, parameters, device);
        const SumAndNorm first = apart(one), second = together(two);
        expect_equal(first.sum, second.sum);
        expect_equal(first.normed, second.normed);
        backward(loss_of(first, uses));
        backward(loss_of(second, uses));
        expect_equal_gradients(one, two);
    }
}

TEST(AddLayerNorm, HasTheBitsAndTypesOfTheTwoOpsAndOfTheirGradients) {
    for (const DType low : {DType::f16, DType::bf16}) {
        expect_equal_steps(low, DType::f32, DType::f32);
        expect_equal_steps(low, low, DType::f32);
        expect_equal_steps(low, low, low);
    }
    expect_equal_steps(DType::f32, DType::f32, DType::f32);
}

TEST(AddLayerNorm, HasThemInAnAutocastRegionToo) {
    const AutocastRegion region(Device::Kind::cpu, true, DType::bf16);
    const auto entered = region.enter();
    expect_equal_steps(DType::bf16, DType::f32, DType::f32);
    expect_equal_steps(DType::f32, DType::f32, DType::f32);
}

TEST(AddLayerNorm, HasThemOnAGpu) {
    HALFTONE_NEEDS_CUDA();
    const Device gpu{Device::Kind::cuda, 0};
    for (const DType low : {DType::f16, DType::bf16}) {
        expect_equal_steps(low, DType::f32, DType::f32, gpu);
        expect_equal_steps(low, low, low, gpu);
        const AutocastRegion region(Device::Kind::cuda, true, low);
        const auto entered = region.enter();
        expect_equal_steps(low, DType::f32, DType::f32, gpu);
    }
    expect_equal_steps(DType::f32, DType::f32, DType::f32, gpu);
}

TEST(AddLayerNorm, HasTheGradientsOfItsGradient) {
    const auto second_order = [](const Case& c, const SumAndNorm& y) {
        const Tensor loss = add(weighed(mul(y.normed, y.normed), 7), weighed(mul(y.sum, y.sum), 8));
        const Tensor inputs[] = {c.x, c.weight};
        const TensorList first =
            grad({&loss, 1}, inputs, {}, {.create_graph = true}, /*allow_unused=*/false);
        backward(add(weighed(mul(first[0], first[0]), 9), weighed(mul(first[1], first[1]), 10)));
    };
    const Case one(DType::f32, DType::f32, DType::f32), two(DType::f32, DType::f32, DType::f32);
    second_order(one, apart(one));
    second_order(two, together(two));
    // Gradients meet in another order, so sums of a few terms round differently.
    for (const auto& [a, b] : {std::pair(one.x, two.x), std::pair(one.around, two.around),
                               std::pair(one.weight, two.weight)}) {
        const auto expected = a.grad().values(), found = b.grad().values();
        double largest = 0;
        for (const double value : expected) largest = std::max(largest, std::fabs(value));
        for (std::size_t i = 0; i < found.size(); ++i)
            EXPECT_NEAR(found[i], expected[i], 1e-5 * largest);
    }
}

TEST(AddLayerNorm, MayBeDifferentiatedTwiceWhereTheGraphIsKept) {
    const Case one(DType::bf16, DType::f32, DType::f32), two(DType::bf16, DType::f32, DType::f32);
    const Tensor first = loss_of(apart(one), Uses::both),
                 second = loss_of(together(two), Uses::both);
    for (int pass = 0; pass < 2; ++pass) {
        backward(first, {.retain_graph = true});
        backward(second, {.retain_graph = true});
    }
    expect_equal_gradients(one, two);
}

TEST(AddLayerNorm, TakesOnlyWhatItsKernelTakes) {
    const auto fuses = [](DType x, DType around, DType parameters) {
        return Case(x, around, parameters).fuses();
    };
    EXPECT_TRUE(fuses(DType::f32, DType::f32, DType::f32));
    EXPECT_FALSE(fuses(DType::f64, DType::f64, DType::f64));
    EXPECT_FALSE(fuses(DType::f32, DType::bf16, DType::f32)) << "the sum is f32";
    EXPECT_FALSE(fuses(DType::f16, DType::bf16, DType::f32));
    EXPECT_FALSE(fuses(DType::f32, DType::f32, DType::bf16)) << "layer_norm() refuses it";
    Case c(DType::f32, DType::f32, DType::f32);
    c.x = transpose(numbers({9, 7}, DType::f32, 1), 0, 1);
    EXPECT_FALSE(c.fuses()) << "not contiguous";
    c.x = numbers({1, 9}, DType::f32, 1);
    EXPECT_FALSE(c.fuses()) << "a broadcast";
    const AutocastRegion region(Device::Kind::cpu, true, DType::bf16);
    const auto entered = region.enter();
    EXPECT_FALSE(fuses(DType::bf16, DType::bf16, DType::f32)) << "the norm is f32 there";
}

TEST(AddLayerNorm, LeavesASumWithoutAGradientOutOfTheGraph) {
    Case c(DType::f32, DType::f32, DType::f32);
    c.x.set_requires_grad(false);
    c.around.set_requires_grad(false);
    EXPECT_FALSE(c.fuses());
    const GradMode off(false);
    EXPECT_TRUE(c.fuses());
}

}  // namespace
}  // namespace engine
