#include <cmath>
#include <cstring>

#include "autograd/backward.h"
#include "kernels/multi_tensor.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "scaler_support.h"
#include "support/element.h"
#include "tensor/layout.h"

namespace engine {
namespace {

using testing::Each;

constexpr std::int64_t side = 20;

std::vector<double> filled(std::int64_t count, double value) {
    return std::vector<double>(static_cast<std::size_t>(count), value);
}

/// A 20 x 20 tensor of `value` in one of three layouts: contiguous, transposed, or the first
/// columns of a wider one.
Tensor laid_out(int layout, double value) {
    const Tensor whole = Tensor::of(filled(side * side, value), {side, side});
    if (layout == 1) return transpose(whole, 0, 1);
    return layout == 2 ? narrow(whole, 1, 0, 5) : whole;
}

/// Sets an element, in any layout.
void put(const Tensor& t, std::int64_t row, std::int64_t column, double value) {
    set_element(t, row * t.strides()[0] + column * t.strides()[1], value);
}

/// Calls unscale_ with 1/4 on two gradients. Returns true if it found a non-finite value.
bool unscale_by_quarter(const TensorList& grads, TensorList* unscaled) {
    TensorList parameters;
    for (const auto& grad : grads) {
        parameters.push_back(Tensor::zeros(grad.shape(), DType::f32));
        parameters.back().set_requires_grad(true);
        parameters.back().set_grad(grad);
    }
    Sgd optimizer(named(parameters), {.lr = 0});
    GradScaler scaler = ready_scaler({.init_scale = 4});
    scaler.unscale_(optimizer);
    scaler.step(optimizer);
    for (const auto& parameter : parameters) unscaled->push_back(parameter.grad());
    return scaler.skipped(optimizer);
}

TEST(GradScaler, S1_RawUnscaleOfPairsOfLayouts) {
    for (int first = 0; first < 3; ++first) {
        for (int second = 0; second < 3; ++second) {
            TensorList out;
            EXPECT_FALSE(unscale_by_quarter({laid_out(first, 4), laid_out(second, 4)}, &out));
            for (const auto& grad : out) EXPECT_THAT(grad.values(), Each(1.0));
        }
    }
}

TEST(GradScaler, S1_RawUnscaleFindsOneNonFiniteElementAnywhere) {
    for (int layout = 0; layout < 3; ++layout) {
        const std::int64_t columns = layout == 2 ? 5 : side;
        for (const double bad : {infinity, -infinity, not_a_number}) {
            for (std::int64_t at = 0; at < side * columns; at += 7) {
                const Tensor grad = laid_out(layout, 4);
                put(grad, at / columns, at % columns, bad);
                TensorList out;
                EXPECT_TRUE(unscale_by_quarter({laid_out(0, 4), grad}, &out))
                    << bad << " at " << at << " of layout " << layout;
                // Every element is written, including those after the bad one.
                EXPECT_EQ(out[1].values()[static_cast<std::size_t>((at + 1) % (side * columns))],
                          1.0);
            }
        }
    }
}

/// Multiplies the gradients by a quarter.
double found_inf_of_quartering(std::span<const kernels::Array> grads) {
    const Tensor found_inf = Tensor::zeros({}, DType::f32);
    const Tensor quarter = Tensor::full({}, 0.25, DType::f32);
    on(found_inf.device(), kernels::cpu::multi_tensor_unscale, kernels::cuda::multi_tensor_unscale)(
        grads, quarter.data_as<float>(), found_inf.data_as<float>(), current_stream());
    return found_inf.item();
}

TEST(GradScaler, S2_RawUnscaleOfTwoTypesInOneList) {
    const Tensor wide = Tensor::of(filled(side * side, 4), {side, side});
    const Tensor half = Tensor::of(filled(side * side, 4), {side, side}, DType::f16);
    const kernels::Array grads[] = {wide.array(), half.array()};
    EXPECT_EQ(found_inf_of_quartering(grads), 0);
    EXPECT_THAT(wide.values(), Each(1.0));
    EXPECT_THAT(half.values(), Each(1.0));
}

TEST(GradScaler, S3_FindsAnInfInEachGradientOfAMixedListInTurn) {
    for (int bad = -1; bad < 4; ++bad) {
        const Tensor slice = narrow(Tensor::of(filled(side * side, 4), {side, side}), 1, 0, 5);
        const TensorList grads = {Tensor::of(filled(side, 4), {side}), dense(slice),
                                  Tensor::of(filled(side, 4), {side}, DType::f16),
                                  Tensor::of(filled(side, 4), {side}, DType::f16)};
        std::vector<kernels::Array> arrays;
        for (const auto& grad : grads) arrays.push_back(grad.array());
        if (bad >= 0) {
            set_element(grads[static_cast<std::size_t>(bad)], 3, infinity);
        }
        EXPECT_EQ(found_inf_of_quartering(arrays), bad >= 0 ? 1 : 0) << "inf in " << bad;
        for (int i = 0; i < 4; ++i) {
            if (i != bad) {
                EXPECT_THAT(grads[static_cast<std::size_t>(i)].values(), Each(1.0));
            }
        }
    }
}

TEST(GradScaler, S3_AnAwareStepFindsAnInfInASliceAndInF16GradientsAndElseUnscalesAll) {
    for (int bad = -1; bad < 4; ++bad) {
        const TensorList grads = {Tensor::of(filled(side, 4), {side, 1}), laid_out(2, 4),
                                  Tensor::of(filled(side, 4), {side, 1}, DType::f16),
                                  Tensor::of(filled(side, 4), {side, 1}, DType::f16)};
        if (bad >= 0) {
            const Tensor& grad = grads[static_cast<std::size_t>(bad)];
            set_element(grad, 3 * grad.strides()[0], infinity);
        }
        TensorList parameters;
        for (const auto& grad : grads) {
            parameters.push_back(Tensor::zeros(grad.shape(), grad.dtype()));
            parameters.back().set_requires_grad(true);
            parameters.back().set_grad(grad);
        }
        Sgd optimizer(named(parameters), {.lr = 0}, {.scaling_aware = true});
        GradScaler scaler = ready_scaler({.init_scale = 4});
        scaler.step(optimizer);
        EXPECT_EQ(scaler.skipped(optimizer), bad >= 0) << "inf in " << bad;
        if (bad >= 0) continue;
        for (const auto& parameter : parameters) EXPECT_THAT(parameter.grad().values(), Each(1.0));
    }
}

TEST(GradScaler, UnscalesBf16GradientsInF32WithOneRounding) {
    const Tensor p = with_grad({0, 0}, {3, 0x1p-133}, DType::bf16);
    Sgd optimizer(named({p}), {.lr = 0});
    GradScaler scaler = ready_scaler({.init_scale = 3});
    scaler.unscale_(optimizer);
    const float third = static_cast<float>(1.0 / 3.0);
    EXPECT_EQ(p.grad().values()[0], kernels::to_float(kernels::to_bfloat16(3.f * third)));
    EXPECT_EQ(p.grad().values()[1], 0);  // a third of the smallest f16 number rounds to 0
}

TEST(GradScaler, MultipliesByTheReciprocalTakenInF64) {
    // 1/s is computed in f64, rounded to f32, and then multiplied: not the same as a division.
    const float scale = 49, value = 7;
    const auto inv = static_cast<float>(1.0 / static_cast<double>(scale));
    ASSERT_NE(value * inv, value / scale);
    OneWeight one;
    give_grad(one.weight, {value});
    GradScaler scaler = ready_scaler({.init_scale = scale});
    scaler.unscale_(one.optimizer);
    EXPECT_EQ(one.weight.grad().item(), value * inv);
}

TEST(GradScaler, LeavesGradientsUntouchedAtScaleOneButStillChecksThem) {
    OneWeight one;
    give_grad(one.weight, {not_a_number});
    GradScaler scaler = ready_scaler({.init_scale = 1});
    EXPECT_FALSE(scaler.step(one.optimizer));
    EXPECT_TRUE(std::isnan(one.weight.grad().item()));
}

TEST(GradScaler, TakesNoSumOrNorm) {
    // Each value is finite; the sum of their squares is not.
    const Tensor p = with_grad({0, 0, 0}, {3e38, 3e38, 3e38});
    Sgd optimizer(named({p}), {.lr = 0});
    GradScaler scaler = ready_scaler({.init_scale = 2});
    EXPECT_TRUE(scaler.step(optimizer));
}

TEST(GradScaler, UnscalesAGradientSharedByTwoParametersOnceForEach) {
    const Tensor a = leaf({1, 2}, {2}), b = leaf({3, 4}, {2});
    GradScaler scaler({.init_scale = 4});
    backward(scaler.scale(sum(mul(add(a, b), Tensor::of({5, 6}, {2})))));
    Sgd optimizer(named({a, b}), {.lr = 0});
    scaler.unscale_(optimizer);
    EXPECT_EQ(a.grad().values(), (std::vector<double>{5, 6}));
    EXPECT_EQ(b.grad().values(), (std::vector<double>{5, 6}));
}

}  // namespace
}  // namespace engine
