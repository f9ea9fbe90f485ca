#include "ops/norm/batch_norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "autograd/backward.h"
#include "engine/base/error.h"
#include "gradcheck.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/layout.h"
#include "tensor/observer.h"
#include "tensor/tape.h"

namespace engine {
namespace {

struct Parameters {
    Tensor weight, bias, mean, var;
    explicit Parameters(std::int64_t channels, DType dtype = DType::f32)
        : weight(random_tensor({channels}, dtype, 11, 0.5, 1.5)),
          bias(random_tensor({channels}, dtype, 12)),
          mean(random_tensor({channels}, dtype, 13)),
          var(random_tensor({channels}, dtype, 14, 0.5, 2)) {}
};

TEST(BatchNorm, NormalisesByChannelAndMovesTheRunningStatisticsWithTheUnbiasedVariance) {
    const Tensor x = Tensor::of({1, 10, 3, 30, 5, 20}, {3, 2}, DType::f64);
    Tensor mean = Tensor::full({2}, 1, DType::f64), var = Tensor::full({2}, 2, DType::f64);
    const auto version = mean.version();
    const auto y = batch_norm(x, {}, {}, mean, var, true, 0.1, 0).values();
    // Channel 0: mean 3, biased variance 8/3; channel 1: mean 20, biased variance 200/3.
    EXPECT_NEAR(y[0], -2 / std::sqrt(8.0 / 3), 1e-12);
    EXPECT_NEAR(y[3], 10 / std::sqrt(200.0 / 3), 1e-12);
    EXPECT_NEAR(mean.values()[0], 0.9 * 1 + 0.1 * 3, 1e-12);
    EXPECT_NEAR(var.values()[0], 0.9 * 2 + 0.1 * 4, 1e-12);
    EXPECT_NEAR(var.values()[1], 0.9 * 2 + 0.1 * 100, 1e-12);
    EXPECT_GT(mean.version(), version);
}

TEST(BatchNorm, UsesTheRunningStatisticsAsTheyAreOutsideTraining) {
    const Tensor x = Tensor::of({3, 5}, {1, 2}, DType::f32);
    const Tensor mean = Tensor::of({1, 1}, {2}), var = Tensor::of({4, 16}, {2});
    EXPECT_EQ(batch_norm(x, {}, {}, mean, var, false, 0.1, 0).values(),
              (std::vector<double>{1, 1}));
    EXPECT_EQ(mean.values(), (std::vector<double>{1, 1}));
}

TEST(BatchNorm, TheFusedFormMatchesItsUnfusedTwinWithGradients) {
    for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
        for (const bool training : {true, false}) {
            const DType wide = dtype == DType::f64 ? DType::f64 : DType::f32;
            // The unfused form rounds after each of its three steps, the fused form once.
            const double unit = dtype == DType::f64   ? 1e-12
                                : dtype == DType::f32 ? 0x1p-18
                                : dtype == DType::f16 ? 0x1p-8
                                                      : 0x1p-5;
            std::vector<TensorList> gradients;
            TensorList outputs;
            for (const bool fused : {true, false}) {
                Parameters p(33, wide);
                // Away from relu's kink, where the two forms could differ in the sign of a sum near
                // 0.
                Tensor x = random_tensor({4, 33, 3, 2}, dtype, 1);
                Tensor residual = random_tensor({4, 33, 3, 2}, dtype, 2, 6, 8);
                for (auto* t : {&x, &residual, &p.weight, &p.bias}) t->set_requires_grad(true);
                const Tensor y =
                    fused ? batch_norm_relu(x, residual, p.weight, p.bias, p.mean, p.var, training)
                          : relu(add(batch_norm(x, p.weight, p.bias, p.mean, p.var, training),
                                     residual));
                const Tensor dy = random_tensor(y.shape(), dtype, 3);
                backward({&y, 1}, {&dy, 1});
                outputs.push_back(y);
                gradients.push_back({x.grad(), residual.grad(), p.weight.grad(), p.bias.grad()});
            }
            expect_close(to(outputs[0], DType::f64), to(outputs[1], DType::f64), unit);
            for (std::size_t i = 0; i < 4; ++i) {
                expect_close(to(gradients[0][i], DType::f64), to(gradients[1][i], DType::f64),
                             4 * unit);
            }
        }
    }
}

TEST(BatchNorm, TheFusedFormStopsTheGradientWhereTheReluDid) {
    Tensor x = Tensor::of({-1, 1}, {2, 1});
    const Tensor one = Tensor::full({1}, 1, DType::f32), zero = Tensor::zeros({1}, DType::f32);
    x.set_requires_grad(true);
    const Tensor y = batch_norm_relu(x, {}, one, zero, zero, one, false, 0.1, 0);
    EXPECT_EQ(y.values(), (std::vector<double>{0, 1}));
    backward(sum(y));
    EXPECT_EQ(x.grad().values(), (std::vector<double>{0, 1}));
}

/// Counts the gradients that a batch norm's output is shown to have, and may allow that two of them
/// are added up unseen.
class Shown final : public OpObserver {
public:
    explicit Shown(bool allows) : allows_(allows) {}
    bool sees_ops() const override { return false; }
    void on_gradient(const Op& to, const Tensor&) override {
        count += &to == &batch_norm_relu_op ? 1 : 0;
    }
    bool allows_pair(const Op&) const override { return allows_; }
    int count = 0;

private:
    bool allows_;
};

/// A residual block's join: the output of a batch norm is used by `branches`, whose gradients meet.
TensorList gradients_of_join(DType dtype, bool with_residual, int branches) {
    Parameters p(16, dtype == DType::f64 ? DType::f64 : DType::f32);
    Tensor x = random_tensor({4, 16, 3, 2}, dtype, 1),
           residual = random_tensor(x.shape(), dtype, 2);
    for (auto* t : {&x, &residual, &p.weight, &p.bias}) t->set_requires_grad(true);
    const Tensor y = batch_norm_relu(x, with_residual ? residual : Tensor(), p.weight, p.bias,
                                     p.mean, p.var, true);
    Tensor all;
    for (int i = 0; i < branches; ++i) {
        const Tensor branch =
            mul(y, random_tensor(y.shape(), dtype, 20 + static_cast<unsigned>(i)));
        all = all.defined() ? add(all, branch) : branch;
    }
    backward(sum(to(all, DType::f64)));
    TensorList found{x.grad(), p.weight.grad(), p.bias.grad()};
    if (with_residual) found.push_back(residual.grad());
    return found;
}

TEST(BatchNorm, AddsTheGradientsOfAJoinAsAnAdditionWould) {
    for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16})
        for (const bool with_residual : {true, false})
            for (const int branches : {1, 2, 3}) {
                Shown allows(true), wants_all(false);
                TensorList fused, added;
                {
                    const ObserverScope scope(allows);
                    fused = gradients_of_join(dtype, with_residual, branches);
                }
                {
                    const ObserverScope scope(wants_all);
                    added = gradients_of_join(dtype, with_residual, branches);
                }
                EXPECT_EQ(allows.count, branches == 1 ? 1 : 0);
                EXPECT_EQ(wants_all.count, 1);
                for (std::size_t i = 0; i < fused.size(); ++i)
                    EXPECT_EQ(fused[i].values(), added[i].values()) << branches << ' ' << i;
            }
}

TEST(BatchNorm, ShowsAHookTheSumOfAJoinsGradients) {
    Tensor x = Tensor::of({-1, 1}, {2, 1}), weight = Tensor::full({1}, 1, DType::f32);
    x.set_requires_grad(true);
    const Tensor zero = Tensor::zeros({1}, DType::f32);
    const Tensor y = batch_norm_relu(x, {}, weight, zero, {}, {}, true, 0.1, 0);
    std::vector<std::vector<double>> seen;
    y.register_hook([&](const Tensor& gradient) { seen.push_back(gradient.values()); });
    backward(sum(add(mul(y, 2.0), mul(y, 3.0))));
    EXPECT_EQ(seen, (std::vector<std::vector<double>>{{5, 5}}));
}

const Op copied_info("copied(x)", "Of these tests.");

/// x in memory of its own. Tells whether its gradient comes in that memory.
Tensor copied(const Tensor& x, bool& in_place) {
    Tensor y;
    {
        const GradMode off(false);
        y = in_layout(mul(x, 1.0), Layout::channels_last);
    }
    const void* const memory = y.data();
    return record(copied_info, {x}, y, {}, [memory, &in_place](const Tensor& dy, const Saved&) {
        in_place = dy.data() == memory;
        return dy;
    });
}

struct Passed {
    bool in_place = false;
    std::vector<double> dx;
};

/// A pass back through batch norm and relu. `pair`: two gradients of the result.
Passed passed_back(DType dtype, bool with_residual, bool pair, bool retain) {
    Parameters p(5, dtype == DType::f64 ? DType::f64 : DType::f32);
    Passed out;
    Tensor x = random_tensor({4, 5, 3, 2}, dtype, 1);
    Tensor residual = random_tensor({4, 5, 3, 2}, dtype, 2);
    x.set_requires_grad(true);
    residual.set_requires_grad(true);
    const Tensor y = batch_norm_relu(copied(x, out.in_place), with_residual ? residual : Tensor(),
                                     p.weight, p.bias, p.mean, p.var, true);
    const Tensor z = pair ? add(mul(y, 3.0), mul(y, 0.5)) : mul(y, 3.0);
    const Tensor dz = random_tensor(z.shape(), dtype, 3);
    backward({&z, 1}, {&dz, 1}, {.retain_graph = retain});
    out.dx = x.grad().values();
    return out;
}

// Nothing else holds the input, as where a convolution made it. Not on a GPU.
TEST(BatchNorm, TheGradientTakesTheMemoryOfAnInputThatNobodyReadsAgain) {
    for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16})
        for (const bool with_residual : {false, true})
            for (const bool pair : {false, true}) {
                const Passed taken = passed_back(dtype, with_residual, pair, false);
                const Passed kept = passed_back(dtype, with_residual, pair, true);
                const bool on_host = default_device().kind == Device::Kind::cpu;
                EXPECT_EQ(taken.in_place, on_host && (!pair || with_residual))
                    << "the sum of a pair lies where dx or the residual's gradient will";
                EXPECT_FALSE(kept.in_place);
                EXPECT_EQ(taken.dx, kept.dx);
            }
}

TEST(BatchNorm, AResidualOfAnotherTypePromotesAsTheTwinDoes) {
    const Parameters p(2);
    const Tensor x = random_tensor({3, 2}, DType::f16, 1), r = random_tensor({3, 2}, DType::f32, 2);
    EXPECT_EQ(batch_norm_relu(x, r, p.weight, p.bias, p.mean, p.var, false).dtype(), DType::f32);
}

TEST(BatchNorm, RefusesOneValueAChannelAndMissingStatistics) {
    const Parameters p(2);
    const Tensor one = Tensor::zeros({1, 2}, DType::f32);
    EXPECT_THROW(batch_norm(one, p.weight, p.bias, p.mean, p.var, true), Error);
    EXPECT_NO_THROW(batch_norm(one, p.weight, p.bias, p.mean, p.var, false));
    EXPECT_THROW(batch_norm(one, p.weight, p.bias, {}, {}, false), Error);
    EXPECT_THROW(batch_norm(one, p.weight, p.bias, p.mean, {}, false), Error);
    EXPECT_THROW(batch_norm(Tensor::zeros({2, 3}, DType::f32), p.weight, {}, {}, {}, true), Error);
}

TEST(BatchNorm, ReadsParametersThatAreViewsWithGaps) {
    const Tensor x = random_tensor({5, 3}, DType::f32, 1);
    const Tensor columns = random_tensor({3, 2}, DType::f32, 2);
    const Tensor w = reshape(narrow(columns, 1, 1, 1), {3});
    const Tensor dense = Tensor::of(w.values(), {3});
    EXPECT_EQ(batch_norm(x, w, {}, {}, {}, true).values(),
              batch_norm(x, dense, {}, {}, {}, true).values());
    const Tensor one = expand(Tensor::full({1}, 2, DType::f32), {3});
    EXPECT_EQ(batch_norm(x, {}, one, {}, {}, true).values(),
              batch_norm(x, {}, Tensor::full({3}, 2, DType::f32), {}, {}, true).values());
}

TEST(BatchNorm, AnInfiniteInputHasAFiniteGradientUnderRunningStatistics) {
    for (const DType dtype : {DType::f64, DType::f32, DType::f16}) {
        Tensor x = Tensor::of({1, INFINITY, -2, NAN}, {4, 1}, dtype);
        x.set_requires_grad(true);
        const DType wide = dtype == DType::f64 ? dtype : DType::f32;
        const Tensor y = batch_norm(x, {}, {}, Tensor::zeros({1}, wide), Tensor::full({1}, 4, wide),
                                    false, 0.1, 0);
        const Tensor dy = Tensor::full({4, 1}, 3, dtype);
        backward({&y, 1}, {&dy, 1});
        EXPECT_EQ(x.grad().values(), std::vector<double>(4, 1.5));
    }
}

TEST(BatchNorm, AnEmptyBatchIsEmptyOutsideTraining) {
    const Parameters p(2);
    EXPECT_EQ(
        batch_norm(Tensor::zeros({0, 2, 3, 3}, DType::f32), p.weight, p.bias, p.mean, p.var, false)
            .shape(),
        (Shape{0, 2, 3, 3}));
}

}  // namespace
}  // namespace engine
