#include "autograd/checkpoint.h"
#include "support/here.h"

#include <gtest/gtest.h>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "engine/base/error.h"
#include "gradcheck.h"
#include "ops/linalg/linear.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/sum.h"

namespace engine {
namespace {

struct Net {
    TensorList weights;
    Net() {
        for (std::uint32_t i = 0; i < 3; ++i) {
            weights.push_back(random_tensor({8, 8}, DType::f32, i + 1));
            weights.back().set_requires_grad(true);
        }
    }
    Tensor first(const Tensor& x) const { return linear(tanh(linear(x, weights[0])), weights[1]); }
    Tensor second(const Tensor& x) const { return tanh(linear(x, weights[2])); }
    std::vector<std::vector<double>> gradients() const {
        std::vector<std::vector<double>> out;
        for (const auto& w : weights) out.push_back(w.grad().values());
        return out;
    }
};

Tensor input(DType dtype) {
    Tensor x = random_tensor({8, 8}, dtype, 9);
    return x.set_requires_grad(true);
}

TEST(Checkpoint, A23RecomputesUnderTheRegionOfForwardAndGivesTheSameGradients) {
    const Net plain, parts;
    const Tensor x = input(DType::f16), z = input(DType::f16);
    Tensor y, kept;
    {
        const auto inside = AutocastRegion(here, true, DType::f16).enter();
        kept = plain.second(plain.first(x));
        const Tensor middle = checkpoint(
            [&](const TensorList& in) { return TensorList{parts.first(in[0])}; }, {z})[0];
        y = checkpoint([&](const TensorList& in) { return TensorList{parts.second(in[0])}; },
                       {middle})[0];
    }
    EXPECT_EQ(y.dtype(), DType::f16);
    EXPECT_TRUE(y.requires_grad());
    EXPECT_EQ(y.values(), kept.values());
    backward(sum(kept));
    backward(sum(y));
    EXPECT_EQ(parts.gradients(), plain.gradients());
    EXPECT_EQ(z.grad().values(), x.grad().values());
    EXPECT_EQ(z.grad().dtype(), DType::f16);
}

TEST(Checkpoint, KeepsNothingOfTheInsideUntilBackward) {
    std::weak_ptr<Storage> inside;
    const Tensor x = input(DType::f32);
    int runs = 0;
    const Tensor y = checkpoint(
        [&](const TensorList& in) {
            const Tensor h = exp(in[0]);
            if (++runs == 1) inside = h.impl()->storage;
            return TensorList{mul(h, h)};
        },
        {x})[0];
    EXPECT_TRUE(inside.expired());
    backward(sum(y));
    EXPECT_EQ(runs, 2);
}

TEST(Checkpoint, RecomputesWithinTheModuleThatWasOpen) {
    const Tensor x = input(DType::f32);
    std::vector<std::string> modules;
    const auto segment = [&](const TensorList& in) {
        modules.push_back(current_module());
        return TensorList{exp(in[0])};
    };
    Tensor y;
    {
        const ModuleScope opened(ModuleName("layer1.0"));
        y = checkpoint(segment, {x})[0];
    }
    backward(sum(y));
    EXPECT_EQ(modules, (std::vector<std::string>{"layer1.0", "layer1.0"}));
    EXPECT_EQ(current_module(), "");
}

TEST(Checkpoint, AParameterUsedInsideAndOutsideGetsBothGradients) {
    Tensor w = Tensor::full({1}, 3, DType::f32);
    w.set_requires_grad(true);
    const Tensor x = Tensor::full({1}, 2, DType::f32);
    const Tensor inside =
        checkpoint([&](const TensorList& in) { return TensorList{mul(in[0], w)}; }, {x})[0];
    backward(sum(mul(inside, w)));  // x w^2
    EXPECT_EQ(w.grad().values(), (std::vector<double>{12}));
}

TEST(Checkpoint, RefusesASecondDerivative) {
    const Tensor x = input(DType::f32);
    const Tensor y =
        sum(checkpoint([](const TensorList& in) { return TensorList{exp(in[0])}; }, {x})[0]);
    EXPECT_THROW(grad({&y, 1}, {&x, 1}, {}, {.create_graph = true}), Error);
}

}  // namespace
}  // namespace engine
