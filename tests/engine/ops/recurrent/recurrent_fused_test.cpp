#include <gtest/gtest.h>

#include <cmath>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "engine/base/error.h"
#include "gradcheck.h"
#include "ops/linalg/linear.h"
#include "ops/recurrent/recurrent.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "support/here.h"
#include "tensor/cast.h"

namespace engine {
namespace {

using Values = std::vector<double>;
using Cell = TensorList (*)(const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                            const Tensor&);

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

void expect_near(const Tensor& got, const Values& wanted) {
    const auto values = got.values();
    ASSERT_EQ(values.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(values[i], wanted[i], 1e-12) << i;
}

struct Form {
    Cell cell;
    const Op* info;
    std::int64_t gates;
};
const Form fused_forms[] = {{thnn_fused_lstm_cell, &thnn_fused_lstm_cell_op, 4},
                            {thnn_fused_gru_cell, &thnn_fused_gru_cell_op, 3}};

TEST(FusedCells, AnLstmStepByHand) {
    // Two units. The gates i, f, g, o are side by side, each with both units.
    const Tensor input = Tensor::of({0, 1, 0, 0, 1, 0, 0, 0}, {1, 8}, DType::f64);
    const Tensor hidden = Tensor::of({0, 0, 0, 0, 0, 0, 0, 2}, {1, 8}, DType::f64);
    const Tensor cx = Tensor::of({2, 4}, {1, 2}, DType::f64);
    const TensorList made = thnn_fused_lstm_cell(input, hidden, cx);
    ASSERT_EQ(made.size(), 3u);
    const double g = std::tanh(1.0), c0 = 0.5 * 2 + 0.5 * g, c1 = 0.5 * 4;
    expect_near(made[0], {0.5 * std::tanh(c0), logistic(2) * std::tanh(c1)});
    expect_near(made[1], {c0, c1});
    EXPECT_EQ(made[2].shape(), (Shape{1, 8}));
    expect_near(made[2], {0.5, logistic(1), 0.5, 0.5, g, 0, 0.5, logistic(2)});
}

TEST(FusedCells, AGruStepByHandWithTheHiddenBiasInsideTheReset) {
    const Tensor input = Tensor::zeros({1, 3}, DType::f64);
    const Tensor hidden = Tensor::of({0, 0, 4}, {1, 3}, DType::f64);
    const Tensor hx = Tensor::of({3}, {1, 1}, DType::f64);
    const Tensor b_input = Tensor::of({0, 0, 1}, {3}, DType::f64);
    const Tensor b_hidden = Tensor::of({0, 0, 2}, {3}, DType::f64);
    const TensorList made = thnn_fused_gru_cell(input, hidden, hx, b_input, b_hidden);
    ASSERT_EQ(made.size(), 2u);
    const double n = std::tanh(1 + 0.5 * (4 + 2));
    expect_near(made[0], {0.5 * n + 0.5 * 3});
    EXPECT_EQ(made[1].shape(), (Shape{1, 5}));
    expect_near(made[1], {0.5, 0.5, n, 3, 6});
}

TEST(FusedCells, AreTheCellsBehindTheirProducts) {
    constexpr std::int64_t batch = 3, in = 2, hidden = 4;
    const auto made = [](const Shape& shape, std::uint32_t seed) {
        return random_tensor(shape, DType::f64, seed, -1, 1).detach().set_requires_grad(true);
    };
    for (const auto& form : fused_forms) {
        const std::int64_t rows = form.gates * hidden;
        const Tensor x = made({batch, in}, 1), h = made({batch, hidden}, 2),
                     c = made({batch, hidden}, 3);
        const CellWeights w{made({rows, in}, 4), made({rows, hidden}, 5), made({rows}, 6),
                            made({rows}, 7)};
        const bool lstm = form.gates == 4;
        TensorList whole = lstm ? lstm_cell(x, h, c, w) : TensorList{gru_cell(x, h, w)};
        TensorList parts =
            form.cell(linear(x, w.w_ih), linear(h, w.w_hh), lstm ? c : h, w.b_ih, w.b_hh);
        parts.pop_back();
        TensorList leaves{x, h, w.w_ih, w.w_hh, w.b_ih, w.b_hh}, seeds;
        if (lstm) leaves.push_back(c);
        for (std::size_t i = 0; i < whole.size(); ++i) {
            expect_close(parts[i], whole[i], 1e-14);
            seeds.push_back(random_tensor(whole[i].shape(), DType::f64, 8));
        }
        const TensorList wanted = grad(whole, leaves, seeds), got = grad(parts, leaves, seeds);
        for (std::size_t i = 0; i < leaves.size(); ++i) expect_close(got[i], wanted[i], 1e-13);
    }
}

TEST(FusedCells, BiasesAreAddedBeforeAnythingIsRounded) {
    // 2049 is not an f16 number.
    const auto gates = [](double value, std::int64_t count) {
        return Tensor::full({1, count}, value, DType::f16);
    };
    const Tensor one = Tensor::full({4}, 1, DType::f16), zero = Tensor::zeros({4}, DType::f16);
    const Tensor cx = Tensor::zeros({1, 1}, DType::f16);
    const double rounded = to(Tensor::of({logistic(1)}, {1}, DType::f64), DType::f16).item();
    EXPECT_EQ(thnn_fused_lstm_cell(gates(2048, 4), gates(-2048, 4), cx, one, zero)[2].values()[0],
              rounded);
    const Tensor b_input = narrow(zero, 0, 0, 3), b_hidden = narrow(one, 0, 0, 3);
    EXPECT_EQ(
        thnn_fused_gru_cell(gates(-2048, 3), gates(2048, 3), cx, b_input, b_hidden)[1].values()[0],
        rounded);
}

TEST(FusedCells, AreLowInARegionWithAWorkspaceThatHasNoGradient) {
    for (const auto& form : fused_forms)
        for (const DType dtype : {DType::f32, DType::f16}) {
            const std::int64_t columns = form.gates * 2;
            const auto leaf = [](const Shape& shape, DType type, std::uint32_t seed) {
                return random_tensor(shape, type, seed).detach().set_requires_grad(true);
            };
            const Tensor input = leaf({3, columns}, dtype, 1),
                         hidden = leaf({3, columns}, DType::bf16, 2),
                         state = leaf({3, 2}, DType::f32, 3),
                         b_input = leaf({columns}, DType::f32, 4),
                         b_hidden = leaf({columns}, dtype, 5);
            TensorList made;
            {
                const AutocastRegion region(here, true, DType::f16);
                const auto inside = region.enter();
                made = form.cell(input, hidden, state, b_input, b_hidden);
            }
            for (const auto& y : made) EXPECT_EQ(y.dtype(), DType::f16);
            EXPECT_TRUE(made[0].requires_grad());
            EXPECT_FALSE(made.back().requires_grad());
            backward(sum(made[0]));
            EXPECT_EQ(input.grad().dtype(), dtype);
            EXPECT_EQ(hidden.grad().dtype(), DType::bf16);
            EXPECT_EQ(state.grad().dtype(), DType::f32);
            EXPECT_EQ(b_hidden.grad().dtype(), dtype);
            const TensorList pure =
                form.cell(to(input, DType::f16), to(hidden, DType::f16), to(state, DType::f16),
                          to(b_input, DType::f16), to(b_hidden, DType::f16));
            for (std::size_t i = 0; i < made.size(); ++i)
                EXPECT_EQ(made[i].values(), pure[i].values());
        }
}

TEST(FusedCells, AnEmptyBatchIsEmpty) {
    for (const auto& form : fused_forms) {
        const Tensor gates = Tensor::zeros({0, form.gates * 2}, DType::f32);
        const TensorList made = form.cell(gates, gates, Tensor::zeros({0, 2}, DType::f32), {}, {});
        EXPECT_EQ(made[0].shape(), (Shape{0, 2}));
        EXPECT_EQ(made.back().shape(), (Shape{0, form.gates == 4 ? 8 : 10}));
    }
}

TEST(FusedCells, RefuseMixedTypesOneBiasAloneAndShapesThatDoNotFit) {
    for (const auto& form : fused_forms) {
        SCOPED_TRACE(form.info->name);
        const std::int64_t columns = form.gates * 2;
        const Tensor gates = Tensor::zeros({3, columns}, DType::f32),
                     state = Tensor::zeros({3, 2}, DType::f32),
                     bias = Tensor::zeros({columns}, DType::f32);
        try {
            form.cell(gates, to(gates, DType::f16), state, {}, {});
            ADD_FAILURE() << "it ran outside a region";
        } catch (const Error& error) {
            const std::string text = error.what();
            EXPECT_EQ(error.code(), ErrorCode::dtype);
            EXPECT_EQ(text.find(std::string(form.info->name) + ":"), 0u) << text;
            EXPECT_NE(text.find("f16"), std::string::npos) << text;
            EXPECT_NE(text.find("f32"), std::string::npos) << text;
        }
        EXPECT_NO_THROW(form.cell(gates, gates, state, bias, bias));
        EXPECT_THROW(form.cell(gates, gates, state, bias, {}), Error);
        EXPECT_THROW(form.cell(gates, gates, state, {}, bias), Error);
        EXPECT_THROW(form.cell(gates, gates, state, bias, narrow(bias, 0, 0, 3)), Error);
        EXPECT_THROW(form.cell(gates, narrow(gates, 1, 0, 3), state, {}, {}), Error);
        EXPECT_THROW(form.cell(gates, gates, narrow(state, 1, 0, 1), {}, {}), Error);
        EXPECT_THROW(form.cell(gates, gates, narrow(state, 0, 0, 2), {}, {}), Error);
    }
}

}  // namespace
}  // namespace engine
