#include <gtest/gtest.h>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "harness.h"
#include "ops/conv/convolution.h"
#include "ops/linalg/linear.h"
#include "ops/loss/loss.h"
#include "ops/norm/batch_norm.h"
#include "ops/norm/group_norm.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/inplace.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/softmax.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "support/grad_scaler.h"
#include "support/here.h"

// Cases of apex's own test suite (catalogue.md#cases-of-the-older-libraries, 5.4) whose result
// depends on a region's casts.
namespace engine {
namespace {

Tensor input(const Shape& shape, DType dtype) {
    Tensor x = Tensor::full(shape, 0.5, dtype);
    return x.set_requires_grad(true);
}

/// The type of the result inside an f16 region. Also expects that the gradient of `x` has the type
/// of x.
DType type_in_region(const Tensor& x, const std::function<Tensor(const Tensor&)>& f) {
    const AutocastRegion region(here, true, DType::f16);
    Tensor y;
    {
        const auto inside = region.enter();
        y = f(x);
    }
    x.set_grad({});
    backward(sum(to(y, DType::f32)));
    EXPECT_EQ(x.grad().dtype(), x.dtype());
    return y.dtype();
}

TEST(ApexCases, X1_OpsGiveTheTypesOfTheirFamilyAndGradientsThatOfTheInput) {
    for (const DType dtype : {DType::f16, DType::f32}) {
        const Tensor rows = input({2, 4}, dtype), image = input({2, 4, 3, 3}, dtype);
        const Tensor weight = Tensor::full({4, 4}, 0.25, DType::f32);
        const Tensor filter = Tensor::full({4, 4, 1, 1}, 0.25, DType::f32);
        EXPECT_EQ(type_in_region(rows, [&](const Tensor& x) { return linear(x, weight); }),
                  DType::f16);
        EXPECT_EQ(type_in_region(image, [&](const Tensor& x) { return conv2d(x, filter); }),
                  DType::f16);
        EXPECT_EQ(type_in_region(rows, [](const Tensor& x) { return softmax(x, 1); }), DType::f32);
        EXPECT_EQ(type_in_region(image, [](const Tensor& x) { return group_norm(x, 2); }),
                  DType::f32);
        EXPECT_EQ(type_in_region(rows, [](const Tensor& x) { return mse_loss(x, mul(x, 0.5)); }),
                  DType::f32);
        EXPECT_EQ(type_in_region(rows, [](const Tensor& x) { return relu(x); }), dtype);
        for (const bool training : {true, false}) {
            const Tensor ones = Tensor::full({4}, 1, DType::f32);
            const Tensor mean = Tensor::zeros({4}, DType::f32),
                         var = Tensor::full({4}, 1, DType::f32);
            EXPECT_EQ(type_in_region(image,
                                     [&](const Tensor& x) {
                                         return batch_norm(x, ones, ones, mean, var, training);
                                     }),
                      dtype);
        }
    }
}

TEST(ApexCases, X1_MixedPairsAreF32AndAnInPlaceSumKeepsTheLeftType) {
    const AutocastRegion region(here, true, DType::f16);
    const auto inside = region.enter();
    for (const auto& [left, right] :
         {std::pair{DType::f16, DType::f32}, std::pair{DType::f32, DType::f16}}) {
        const Tensor a = Tensor::full({3}, 1, left), b = Tensor::full({3}, 2, right);
        EXPECT_EQ(atan2(a, b).dtype(), DType::f32);
        EXPECT_EQ(mul(a, b).dtype(), DType::f32);
        EXPECT_EQ(cat({a, b}, 0).dtype(), DType::f32);
        EXPECT_EQ(add_(a, b).dtype(), left);
    }
}

/// An op with a weight, one of each family, and the same computation in f32 written out.
struct WeightedOp {
    const char* family;
    Tensor (*call)(const Tensor& x, const Tensor& weight);
};
const WeightedOp weighted_ops[] = {
    {"low", [](const Tensor& x, const Tensor& w) { return linear(x, w); }},
    {"f32", [](const Tensor& x, const Tensor& w) { return mul(x, exp(w)); }},
    {"promote", [](const Tensor& x, const Tensor& w) { return atan2(x, w); }}};

struct Pass {
    std::vector<double> output, gradient;  // the gradient is unscaled
};

Pass pass_of(const WeightedOp& op, const Tensor& x, const Tensor& weight, bool in_region,
             bool training) {
    const AutocastRegion region(here, in_region, DType::f16);
    GradScaler scaler({.init_scale = 4, .enabled = in_region});
    const GradMode mode(training);
    Tensor y;
    {
        const auto inside = region.enter();
        y = op.call(x, weight);
    }
    Pass out{y.values(), {}};
    if (!training) return out;
    weight.set_grad({});
    backward(scaler.scale(sum(to(y, DType::f32))));
    out.gradient = to(weight.grad(), DType::f32).values();
    for (auto& g : out.gradient) g /= scaler.loss_scale();
    return out;
}

/// About four roundings, each of half a unit of f16.
void expect_near(const std::vector<double>& got, const std::vector<double>& expected) {
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_NEAR(got[i], expected[i], 4 * 0x1p-11 * (1 + std::abs(expected[i])));
}

TEST(ApexCases, X3_APassAfterTheWeightWasLoweredSeesTheNewValue) {
    const AutocastRegion outer(here, false);  // keeps the cache alive between the passes
    for (const auto& op : weighted_ops) {
        for (const DType dtype : {DType::f16, DType::f32}) {
            SCOPED_TRACE(std::string(op.family) + " " + name(dtype));
            const auto kept = outer.enter();
            const Tensor x = Tensor::of({0.5, -1, 2, 0.25, 1, -0.5, 3, 1.5, 1}, {3, 3});
            Tensor weight = Tensor::of({2, 1.5, 2.5, 3, 1, 2, 1.25, 2.75, 3}, {3, 3}, dtype);
            Tensor reference = to(weight, DType::f32).detach();
            if (reference.impl()->storage == weight.impl()->storage)
                reference = mul(reference, 1.0).detach();
            weight.set_requires_grad(true);
            reference.set_requires_grad(true);
            for (const bool training : {true, false, true}) {
                const Pass got = pass_of(op, x, weight, true, training);
                const Pass expected = pass_of(op, x, reference, false, training);
                expect_near(got.output, expected.output);
                if (training) expect_near(got.gradient, expected.gradient);
                const GradMode off(false);
                for (const Tensor* w : {&weight, &reference})
                    add_(*w, Tensor::full({}, -1, w->dtype()));
            }
        }
    }
}

}  // namespace
}  // namespace engine
