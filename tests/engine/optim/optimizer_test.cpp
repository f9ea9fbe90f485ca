#include "optim/optimizer.h"
#include "support/element.h"

#include <gmock/gmock.h>

#include <limits>

#include "autograd/backward.h"
#include "kernels/dtype.h"
#include "ops/linalg/matmul.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "optim_support.h"
#include "tensor/cast.h"
#include "tensor/layout.h"

namespace engine {
namespace {

using testing::ElementsAre;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

void give(const Tensor& weight, const std::vector<double>& grads) {
    weight.set_grad(Tensor::of(grads, weight.shape(), weight.dtype()));
}

TEST(Optimizer, HasNoStateBeforeTheFirstUpdateAndNamesItAfter) {
    const Tensor w = weight_of({1, 2});
    Sgd plain({{"w", w}}, {.lr = 1}), momentum({{"w", w}}, {.lr = 1, .momentum = 0.5});
    Adam adam({{"w", w}}, {.decoupled = true});
    EXPECT_TRUE(momentum.state(0).empty());
    EXPECT_TRUE(adam.state(0).empty());
    give(w, {3, 4});
    momentum.step();
    adam.step();
    plain.step();
    EXPECT_TRUE(plain.state(0).empty());
    ASSERT_EQ(momentum.state(0).size(), 1u);
    EXPECT_EQ(momentum.state(0)[0].first, "momentum_buffer");
    EXPECT_THAT(momentum.state(0)[0].second.values(), ElementsAre(3, 4));
    ASSERT_EQ(adam.state(0).size(), 2u);
    EXPECT_EQ(adam.state(0)[0].first, "exp_avg");
    EXPECT_EQ(adam.state(0)[1].first, "exp_avg_sq");
}

TEST(Optimizer, LeavesOutAParameterWithoutGradient) {
    const Tensor w = weight_of({1}), still = weight_of({1});
    Sgd optimizer({{"w", w}, {"still", still}}, {.lr = 1, .weight_decay = 0.5});
    give(w, {1});
    optimizer.step();
    EXPECT_EQ(w.item(), -0.5);
    EXPECT_EQ(still.item(), 1);
    EXPECT_EQ(optimizer.steps(), 1);
}

TEST(Optimizer, ZeroGradDropsTheGradients) {
    const Tensor w = weight_of({1});
    Sgd optimizer({{"w", w}}, {.lr = 1});
    give(w, {1});
    optimizer.zero_grad();
    EXPECT_FALSE(w.grad().defined());
    optimizer.step();
    EXPECT_EQ(w.item(), 1);
}

TEST(Optimizer, TakesANewLearningRateAtTheNextStep) {
    const Tensor w = weight_of({1});
    Sgd optimizer({{"w", w}}, {.lr = 1});
    give(w, {1});
    optimizer.set_lr(0.25);
    EXPECT_EQ(optimizer.lr(), 0.25);
    optimizer.step();
    EXPECT_EQ(w.item(), 0.75);
}

TEST(Optimizer, WritesTheUnscaledAndClippedGradientBackWhereAsked) {
    for (const bool write : {true, false}) {
        const Tensor w = weight_of({0, 0});
        Sgd optimizer({{"w", w}}, {.lr = 1}, {.scaling_aware = true, .write_grads = write});
        give(w, {8, -16});
        optimizer.grad_scale = Tensor::full({}, 4, DType::f32);
        optimizer.clip = Tensor::full({}, 0.5, DType::f32);
        optimizer.step();
        EXPECT_THAT(w.values(), ElementsAre(-1, 2));
        if (write) {
            EXPECT_THAT(w.grad().values(), ElementsAre(1, -2));
        } else {
            EXPECT_THAT(w.grad().values(), ElementsAre(8, -16));
        }
    }
}

TEST(Optimizer, WritesAndStampsTheLowCopy) {
    for (const DType low : {DType::f16, DType::bf16}) {
        const Tensor w = weight_of({1, 0.1, -3});
        w.impl()->low_copy = std::make_shared<LowCopy>(LowCopy{to(w.detach(), low), w.version()});
        const Tensor copy = w.impl()->low_copy->tensor;
        Sgd optimizer({{"w", w}}, {.lr = 0.3});
        for (int step = 0; step < 3; ++step) {
            give(w, {0.7, 0.01, 5});
            optimizer.step();
            EXPECT_TRUE(bytes_of(copy) == bytes_of(Tensor::of(w.values(), w.shape(), low)));
            EXPECT_EQ(w.impl()->low_copy->version, w.version());
            EXPECT_EQ(to(w, low).data(), copy.data()) << "handed out, not cast again";
        }
    }
}

// As the weights of convolutions lie on a GPU, with a gradient that was left in 16 bits.
TEST(Optimizer, WritesTheLowCopyOfAWeightInChannelsLast) {
    const std::vector<double> values = {1, 2, 3, 4, 5, 6, 7, 8}, grads = {8, 7, 6, 5, 4, 3, 2, 1};
    const Shape shape{1, 2, 2, 2};
    const Tensor rows = Tensor::of(values, shape), w = in_layout(rows, Layout::channels_last);
    w.impl()->low_copy =
        std::make_shared<LowCopy>(LowCopy{to(w.detach(), DType::f16), w.version()});
    Sgd optimizer({{"rows", rows}, {"w", w}}, {.lr = 0.25});
    rows.set_grad(Tensor::of(grads, shape, DType::f16));
    w.set_grad(in_layout(Tensor::of(grads, shape, DType::f16), Layout::channels_last));
    optimizer.step();
    EXPECT_EQ(w.values(), rows.values());
    const Tensor cast = to(w, DType::f16);
    EXPECT_EQ(cast.data(), w.impl()->low_copy->tensor.data());
    EXPECT_TRUE(cast.is_channels_last());
    EXPECT_EQ(cast.values(), rows.values());
}

TEST(Optimizer, AWeightWrittenByOthersIsCastAnewUntilTheNextStep) {
    const Tensor w = weight_of({1});
    w.impl()->low_copy =
        std::make_shared<LowCopy>(LowCopy{to(w.detach(), DType::f16), w.version()});
    Sgd optimizer({{"w", w}}, {.lr = 1});
    set_element(w, 0, 5);
    w.bump_version();
    const Tensor cast = to(w, DType::f16);
    EXPECT_NE(cast.data(), w.impl()->low_copy->tensor.data());
    EXPECT_EQ(cast.item(), 5);
    give(w, {1});
    optimizer.step();
    EXPECT_EQ(to(w, DType::f16).data(), w.impl()->low_copy->tensor.data());
    EXPECT_EQ(to(w, DType::f16).item(), 4);
}

TEST(Optimizer, ASkippedStepLeavesTheLowCopyValid) {
    const Tensor w = weight_of({1});
    w.impl()->low_copy =
        std::make_shared<LowCopy>(LowCopy{to(w.detach(), DType::f16), w.version()});
    Sgd optimizer({{"w", w}}, {.lr = 1});
    give(w, {1});
    optimizer.found_inf = Tensor::full({}, 1, DType::f32);
    optimizer.step();
    EXPECT_EQ(to(w, DType::f16).data(), w.impl()->low_copy->tensor.data());
    EXPECT_EQ(to(w, DType::f16).item(), 1);
}

TEST(Optimizer, RaisesTheVersionSoThatAnOldGraphIsRefused) {
    const Tensor w = weight_of({1, 2});
    const Tensor loss = sum(mul(w, w));
    Sgd optimizer({{"w", w}}, {.lr = 1});
    give(w, {1, 1});
    optimizer.step();
    EXPECT_THROW(backward(loss), Error);
}

TEST(Optimizer, CountsUpdatesThatRoundToNothingInPureF16) {
    // Below 1, f16 numbers are 2^-11 apart: 2^-13 is less than half of that, and 2^-11 a whole
    // unit.
    const Tensor w = weight_of({1, 1, 1, 1}, DType::f16);
    Sgd optimizer({{"w", w}}, {.lr = 1});
    give(w, {0x1p-13, 0x1p-11, 0, -0x1p-13});
    optimizer.step();
    EXPECT_THAT(w.values(), ElementsAre(1, 1 - 0x1p-11, 1, 1));
    EXPECT_EQ(optimizer.counts().host().nonzero, 3);
    EXPECT_EQ(optimizer.counts().host().lost, 2);
}

TEST(Optimizer, KeepsSmallUpdatesInTheMasterWeights) {
    const Tensor w = weight_of({1}, DType::f16);
    Sgd optimizer({{"w", w}}, {.lr = 1}, {.master_weights = true});
    ASSERT_EQ(optimizer.master(0).dtype(), DType::f32);
    for (int step = 0; step < 4; ++step) {
        give(w, {0x1p-13});
        optimizer.step();
    }
    EXPECT_EQ(optimizer.master(0).item(), 1 - 0x1p-11);
    EXPECT_EQ(w.item(), 1 - 0x1p-11);
    EXPECT_EQ(optimizer.counts().host().nonzero, 1);
    EXPECT_EQ(optimizer.counts().host().lost, 0) << "masters lose nothing";
}

TEST(Optimizer, OfPureF16RoundsEachUpdateOnceAndKeepsItsMomentumInF16) {
    Uniform draw(11, 8);
    const Tensor w = weight_of(draw.many(1000), DType::f16);
    Sgd optimizer({{"w", w}}, {.lr = 0.05, .momentum = 0.9});
    std::vector<double> buffer(1000, 0.0);
    for (int step = 0; step < 20; ++step) {
        const auto before = w.values(), grads = draw.many(1000);
        give(w, grads);
        optimizer.step();
        const auto after = w.values(), stored = optimizer.state(0)[0].second.values();
        ASSERT_EQ(optimizer.state(0)[0].second.dtype(), DType::f16);
        for (std::size_t i = 0; i < 1000; ++i) {
            const double exact_buffer = 0.9 * buffer[i] + grads[i];
            const double exact = before[i] - 0.05 * exact_buffer;
            // Half a unit of f16 in the result, and f32 roundings of the terms.
            const auto bound = [](double result, double terms) {
                const int exponent = result == 0 ? -14 : std::max(std::ilogb(result), -14);
                return 0.501 * std::ldexp(1.0, exponent - 10) + 0x1p-22 * terms;
            };
            ASSERT_LE(std::abs(stored[i] - exact_buffer),
                      bound(exact_buffer, std::abs(buffer[i]) + std::abs(grads[i])));
            ASSERT_LE(std::abs(after[i] - exact),
                      bound(exact, std::abs(before[i]) + std::abs(exact_buffer)));
        }
        buffer = stored;
    }
}

TEST(Optimizer, TakesAGradientInAnyLayout) {
    // The gradient of a transposed use is a transposed view.
    const Tensor w = Tensor::of({1, 2, 3, 4, 5, 6}, {2, 3});
    w.impl()->requires_grad = true;
    const Tensor x = Tensor::of({10, 20, 30, 40}, {2, 2});
    backward(sum(mm(transpose(w, 0, 1), x)));
    // d/dw[i][j] = sum of row i of x.
    Sgd optimizer({{"w", w}}, {.lr = 1}, {.scaling_aware = true});
    optimizer.step();
    EXPECT_THAT(w.values(), ElementsAre(-29, -28, -27, -66, -65, -64));
}

TEST(Optimizer, TakesABroadcastGradient) {
    const Tensor w = weight_of({1, 2, 3});
    backward(sum(w));
    Sgd optimizer({{"w", w}}, {.lr = 1}, {.scaling_aware = true});
    optimizer.step();
    EXPECT_THAT(w.values(), ElementsAre(0, 1, 2));
}

TEST(Optimizer, TakesChannelsLastWeightsAndGradients) {
    const Tensor w =
        Tensor::empty({2, 3, 2, 2}, DType::f32, default_device(), Layout::channels_last);
    for (int i = 0; i < 24; ++i) set_element(w, i, i);
    const auto before = w.values();
    std::vector<double> grads(24);
    for (std::size_t i = 0; i < 24; ++i) grads[i] = 100.0 * static_cast<double>(i);
    w.impl()->requires_grad = true;
    w.set_grad(Tensor::of(grads, w.shape()));  // row-major
    Sgd optimizer({{"w", w}}, {.lr = 1});
    optimizer.step();
    for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(w.values()[i], before[i] - grads[i]);
}

TEST(Optimizer, RefusesAParameterThatIsNotDense) {
    const Tensor whole = Tensor::of({1, 2, 3, 4, 5, 6}, {2, 3});
    EXPECT_THROW(Sgd({{"w", narrow(whole, 1, 0, 2)}}, {.lr = 1}), Error);
    EXPECT_THROW(Sgd({{"w", transpose(whole, 0, 1)}}, {.lr = 1}), Error);
}

TEST(Optimizer, RefusesSettingsOutOfRange) {
    const std::vector<Parameter> none;
    EXPECT_THROW(Sgd(none, {.lr = -1}), Error);
    EXPECT_THROW(Sgd(none, {.lr = not_a_number}), Error);
    EXPECT_THROW(Sgd(none, {.momentum = -0.1}), Error);
    EXPECT_THROW(Sgd(none, {.momentum = not_a_number}), Error);
    EXPECT_THROW(Sgd(none, {.weight_decay = -1}), Error);
    EXPECT_THROW(Sgd(none, {.nesterov = true}), Error);
    EXPECT_THROW(Sgd(none, {.momentum = 0.9, .dampening = 0.1, .nesterov = true}), Error);
    EXPECT_THROW(Adam(none, {.beta1 = 1}), Error);
    EXPECT_THROW(Adam(none, {.beta2 = -0.1}), Error);
    EXPECT_THROW(Adam(none, {.eps = -1}), Error);
    EXPECT_THROW(Adam(none, {.eps = not_a_number}), Error);
    EXPECT_THROW(Adam(none, {.weight_decay = -1}), Error);
}

TEST(Optimizer, WorksWithoutParameters) {
    Sgd optimizer({}, {.lr = 1, .momentum = 0.9});
    optimizer.step();
    EXPECT_EQ(optimizer.steps(), 1);
}

TEST(Optimizer, UpdatesF64WeightsInF64) {
    const Tensor w = weight_of({1}, DType::f64);
    Sgd optimizer({{"w", w}}, {.lr = 0.5});
    give(w, {0x1p-50});
    optimizer.step();
    EXPECT_EQ(w.item(), 1 - 0x1p-51);
}

TEST(Optimizer, AccountsMastersAndStateUnderTheirUse) {
    const auto accounting = std::make_shared<MemoryAccounting>();
    const AccountingScope scope(accounting);
    const Tensor w = weight_of(std::vector<double>(4096, 1.0), DType::f16);
    Sgd optimizer({{"w", w}}, {.lr = 1, .momentum = 0.9}, {.master_weights = true});
    EXPECT_GE(accounting->bytes(MemoryUse::masters), 4096 * 4);
    give(w, std::vector<double>(4096, 0.0));
    optimizer.step();
    EXPECT_GE(accounting->bytes(MemoryUse::optimizer), 4096 * 4);
}

}  // namespace
}  // namespace engine
