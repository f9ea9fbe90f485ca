#include <gtest/gtest.h>

#include <cmath>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "engine/base/error.h"
#include "gradcheck.h"
#include "ops/norm/batch_norm.h"
#include "ops/norm/group_norm.h"
#include "ops/norm/layer_norm.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/view.h"
#include "support/expectations.h"
#include "support/here.h"
#include "tensor/cast.h"
#include "tensor/layout.h"

namespace engine {
namespace {

/// Expects that the message contains both names.
void expect_names(const std::function<void()>& f, const std::string& a, const std::string& b) {
    const std::string text = message_of(ErrorCode::dtype, f);
    EXPECT_NE(text.find(a), std::string::npos) << text;
    EXPECT_NE(text.find(b), std::string::npos) << text;
}

TEST(LayerNorm, NormalisesTheLastDimensionsByTheirBiasedVariance) {
    const Tensor x = Tensor::of({1, 2, 3, 6, 5, 5}, {2, 3}, DType::f64);
    const auto y = layer_norm(x, {3}, {}, {}, 0).values();
    EXPECT_NEAR(y[0], -std::sqrt(1.5), 1e-12);  // mean 2, variance 2/3
    EXPECT_NEAR(y[1], 0, 1e-12);
    EXPECT_NEAR(y[3], std::sqrt(2.0), 1e-12);  // mean 16/3, variance 2/9
    const Tensor w = Tensor::of({2, 0, 1}, {3}, DType::f64), b = Tensor::full({3}, 1, DType::f64);
    EXPECT_NEAR(layer_norm(x, {3}, w, b, 0).values()[0], 1 - 2 * std::sqrt(1.5), 1e-12);
}

TEST(NativeLayerNorm, GivesTheMeanAndTheReciprocalDeviationInFp32) {
    const Tensor x = Tensor::of({1, 3, 5, 5}, {2, 1, 2}, DType::f16);
    const TensorList out = native_layer_norm(x, {1, 2}, {}, {}, 1);
    EXPECT_EQ(out[0].dtype(), DType::f16);
    EXPECT_EQ(out[1].dtype(), DType::f32);
    EXPECT_EQ(out[1].shape(), (Shape{2, 1, 1}));
    EXPECT_EQ(out[1].values(), (std::vector<double>{2, 5}));
    EXPECT_EQ(out[2].values(), (std::vector<double>{std::sqrt(0.5f), 1}));
}

TEST(RmsNorm, DividesByTheRootOfTheMeanSquare) {
    const Tensor x = Tensor::of({3, 4}, {2}, DType::f64);
    const auto y = rms_norm(x, {2}, Tensor::of({2, 1}, {2}, DType::f64), 0).values();
    EXPECT_NEAR(y[0], 6 / std::sqrt(12.5), 1e-12);
    EXPECT_NEAR(y[1], 4 / std::sqrt(12.5), 1e-12);
}

TEST(RmsNorm, TakesTheEpsilonOfTheTypeThatItComputesIn) {
    for (const auto& [dtype, eps] : {std::pair(DType::f32, 0x1p-23), std::pair(DType::f64, 0x1p-52),
                                     std::pair(DType::f16, 0x1p-23)}) {
        const Tensor zero = Tensor::zeros({4}, dtype);
        Tensor x = Tensor::of({0x1p-14, 0}, {2}, dtype);
        const double square = 0x1p-29;
        EXPECT_NEAR(rms_norm(x, {2}).values()[0], 0x1p-14 / std::sqrt(square + eps), 1e-3)
            << name(dtype);
        EXPECT_EQ(rms_norm(zero, {4}).values(), std::vector<double>(4, 0));
    }
}

TEST(GroupNorm, NormalisesGroupsOfChannelsOfEachSampleInAnyLayout) {
    const Tensor x = random_tensor({2, 6, 3, 2}, DType::f64, 1);
    const Tensor w = random_tensor({6}, DType::f64, 2), b = random_tensor({6}, DType::f64, 3);
    const Tensor y = group_norm(x, 3, w, b);
    const Tensor rows = layer_norm(reshape(x, {6, 12}), {12});
    const Tensor expected =
        add(mul(reshape(rows, {2, 6, 3, 2}), reshape(w, {1, 6, 1, 1})), reshape(b, {1, 6, 1, 1}));
    expect_close(y, expected, 1e-14);
    expect_close(group_norm(in_layout(x, Layout::channels_last), 3, w, b), expected, 1e-14);
}

TEST(InstanceNorm, MovesTheRunningStatisticsByTheMeanOverTheBatch) {
    const Tensor x = Tensor::of({1, 3, 5, 9}, {2, 1, 2}, DType::f64);
    const Tensor mean = Tensor::full({1}, 1, DType::f64), var = Tensor::full({1}, 2, DType::f64);
    const Tensor y = instance_norm(x, mean, var, {}, {}, true, 0.5, 0);
    for (const double v : y.values()) EXPECT_NEAR(std::abs(v), 1, 1e-12);
    EXPECT_NEAR(mean.values()[0], 0.5 * 1 + 0.5 * (2 + 7) / 2, 1e-12);
    EXPECT_NEAR(var.values()[0], 0.5 * 2 + 0.5 * (2 + 8) / 2, 1e-12);  // unbiased
}

TEST(BatchNorm, SequencesAndVolumesAreNormalisedAsTheirImages) {
    const Tensor w = random_tensor({3}, DType::f32, 1), b = random_tensor({3}, DType::f32, 2);
    const Tensor image = random_tensor({2, 3, 4, 6}, DType::f16, 3);
    const Tensor expected = batch_norm(image, w, b, {}, {}, true);
    for (const Shape& shape : {Shape{2, 3, 24}, Shape{2, 3, 4, 2, 3}}) {
        const Tensor y = batch_norm(reshape(image, shape), w, b, {}, {}, true);
        EXPECT_EQ(y.shape(), shape);
        EXPECT_EQ(y.dtype(), DType::f16);
        EXPECT_EQ(y.values(), expected.values());
    }
    EXPECT_THROW(batch_norm(Tensor::zeros({3}, DType::f32), {}, {}, {}, {}, true), Error);
}

TEST(Norms, TakeA16BitInputBesideFp32ParametersAndRefuseTheOtherWay) {
    const Tensor low = random_tensor({2, 4, 3}, DType::bf16, 1);
    const Tensor wide = random_tensor({2, 4, 3}, DType::f32, 1);
    for (const DType parameters : {DType::f32, DType::bf16}) {
        const Tensor w = random_tensor({3}, parameters, 2), c = random_tensor({4}, parameters, 3);
        EXPECT_EQ(layer_norm(low, {3}, w, w).dtype(), DType::bf16);
        EXPECT_EQ(rms_norm(low, {3}, w).dtype(), DType::bf16);
        EXPECT_EQ(group_norm(low, 2, c, c).dtype(), DType::bf16);
        EXPECT_EQ(instance_norm(low, {}, {}, c, c, true).dtype(), DType::bf16);
    }
    const Tensor w = random_tensor({3}, DType::bf16, 2), c = random_tensor({4}, DType::bf16, 3);
    expect_names([&] { layer_norm(wide, {3}, w); }, "f32", "bf16");
    expect_names([&] { native_layer_norm(wide, {3}, {}, w, 1e-5); }, "f32", "bf16");
    expect_names([&] { rms_norm(wide, {3}, w); }, "f32", "bf16");
    expect_names([&] { group_norm(wide, 2, c); }, "f32", "bf16");
    expect_names([&] { instance_norm(wide, {}, {}, {}, c, true); }, "f32", "bf16");
}

TEST(Norms, AreFp32InARegionAndBatchStatisticsStayWithTheirInputsType) {
    const Tensor x = random_tensor({2, 4, 3}, DType::f16, 1), w = random_tensor({3}, DType::f16, 2);
    const Tensor wide = random_tensor({2, 4, 3}, DType::f32, 1);
    const AutocastRegion region(here, true, DType::f16);
    const auto inside = region.enter();
    EXPECT_EQ(layer_norm(x, {3}, w).dtype(), DType::f32);
    EXPECT_EQ(native_layer_norm(x, {3}, w, {}, 1e-5)[0].dtype(), DType::f32);
    EXPECT_EQ(rms_norm(x, {3}).dtype(), DType::f32);
    EXPECT_EQ(group_norm(x, 2).dtype(), DType::f32);
    EXPECT_EQ(layer_norm(wide, {3}, w).dtype(), DType::f32);
    EXPECT_EQ(instance_norm(x, {}, {}, {}, {}, true).dtype(), DType::f16);
    EXPECT_EQ(batch_norm(x, {}, {}, {}, {}, true).dtype(), DType::f16);
}

TEST(Norms, RefuseShapesAndGroupsThatDoNotFit) {
    const Tensor x = Tensor::zeros({2, 4, 3}, DType::f32), w = Tensor::zeros({4}, DType::f32);
    EXPECT_THROW(layer_norm(x, {4}), Error);
    EXPECT_THROW(layer_norm(x, {}), Error);
    EXPECT_THROW(layer_norm(x, {1, 2, 4, 3}), Error);
    EXPECT_THROW(layer_norm(x, {3}, w), Error);
    EXPECT_THROW(group_norm(x, 3), Error);
    EXPECT_THROW(group_norm(x, 0), Error);
    EXPECT_THROW(group_norm(x, 2, Tensor::zeros({3}, DType::f32)), Error);
    EXPECT_THROW(instance_norm(Tensor::zeros({2, 4}, DType::f32), {}, {}, {}, {}, true), Error);
    EXPECT_THROW(instance_norm(Tensor::zeros({2, 4, 1}, DType::f32), {}, {}, {}, {}, true), Error);
    EXPECT_THROW(instance_norm(x, {}, {}, {}, {}, false), Error);
    EXPECT_THROW(layer_norm(Tensor::zeros({3}, DType::i64), {3}), Error);
}

TEST(Norms, AnEmptyBatchIsEmptyAndItsParametersGetZero) {
    Tensor w = Tensor::full({3}, 1, DType::f32);
    w.set_requires_grad(true);
    const Tensor x = Tensor::zeros({0, 3}, DType::f16);
    const Tensor y = layer_norm(x, {3}, w);
    EXPECT_EQ(y.shape(), (Shape{0, 3}));
    const Tensor dy = Tensor::zeros({0, 3}, DType::f16);
    backward({&y, 1}, {&dy, 1});
    EXPECT_EQ(w.grad().values(), (std::vector<double>{0, 0, 0}));
    EXPECT_EQ(group_norm(Tensor::zeros({0, 4, 2}, DType::f32), 2).shape(), (Shape{0, 4, 2}));
}

/// Layer norm composed of plain ops in f32, as in a region.
Tensor plain_norm(const Tensor& x0, const Tensor& weight, const Tensor& bias, bool rms) {
    const Tensor x = widened(x0);
    const Tensor centred = rms ? x : sub(x, mean(x, {-1}, true));
    Tensor y = mul(centred, rsqrt(add(mean(mul(centred, centred), {-1}, true), 1e-5)));
    if (weight.defined()) y = mul(y, widened(weight));
    return bias.defined() ? add(y, widened(bias)) : y;
}

TEST(Norms, X12FusedLayerAndRmsNormMatchPlainOpsInARegion) {
    for (const DType low : {DType::f16, DType::bf16})
        for (const bool rms : {false, true})
            for (const bool affine : {false, true}) {
                std::vector<TensorList> found;
                TensorList outputs;
                for (const bool fused : {true, false}) {
                    Tensor x = random_tensor({7, 33}, low, 1);
                    Tensor w = random_tensor({33}, DType::f32, 2);
                    Tensor b = random_tensor({33}, DType::f32, 3);
                    for (auto* t : {&x, &w, &b}) t->set_requires_grad(true);
                    const Tensor weight = affine ? w : Tensor();
                    const Tensor bias = affine && !rms ? b : Tensor();
                    const AutocastRegion region(here, true, low);
                    Tensor y;
                    {
                        const auto inside = region.enter();
                        if (!fused)
                            y = plain_norm(x, weight, bias, rms);
                        else if (rms)
                            y = rms_norm(x, {33}, weight, 1e-5);
                        else
                            y = layer_norm(x, {33}, weight, bias);
                    }
                    const Tensor dy = random_tensor(y.shape(), DType::f32, 4);
                    backward({&y, 1}, {&dy, 1});
                    outputs.push_back(y);
                    found.push_back({x.grad()});
                    if (weight.defined()) found.back().push_back(w.grad());
                    if (bias.defined()) found.back().push_back(b.grad());
                }
                EXPECT_EQ(outputs[0].dtype(), DType::f32);
                // Sums of 33 terms in f32 (at most 33 units in either form), and a few more
                // roundings.
                expect_close(outputs[0], outputs[1], 80 * 0x1p-24);
                // In both forms dx is rounded to the input's type once, so they differ by at most
                // one unit.
                EXPECT_EQ(found[0][0].dtype(), low);
                expect_close(to(found[0][0], DType::f64), to(found[1][0], DType::f64),
                             low == DType::f16 ? 0x1p-10 : 0x1p-7);
                for (std::size_t i = 1; i < found[0].size(); ++i)
                    expect_close(found[0][i], found[1][i], 80 * 0x1p-24);
            }
}

}  // namespace
}  // namespace engine
