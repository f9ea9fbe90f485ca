#include <cmath>
#include <list>

#include "autograd/backward.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "scaler_support.h"
#include "tensor/device.h"
#include "tensor/observer.h"
#include "tensor/parameter.h"
#include "tensor/transfer.h"

namespace engine {
namespace {

using testing::ElementsAre;

/// Calls update() with given flags: one weight whose gradient is inf or not.
class Driver {
public:
    explicit Driver(const ScalerOptions& options) : scaler(ready_scaler(options)) {}
    std::pair<double, std::int64_t> update(bool overflow) {
        give_grad(one_.weight, {overflow ? infinity : 1.0});
        scaler.step(one_.optimizer);
        scaler.update();
        return {scaler.loss_scale(), scaler.growth_tracker()};
    }
    GradScaler scaler;

private:
    OneWeight one_;
};

using State = std::pair<double, std::int64_t>;

TEST(GradScaler, StartsWithPyTorchsSettings) {
    const GradScaler scaler;
    EXPECT_TRUE(scaler.is_enabled());
    EXPECT_EQ(scaler.loss_scale(), 65536);
    EXPECT_EQ(scaler.growth_factor(), 2);
    EXPECT_EQ(scaler.backoff_factor(), 0.5);
    EXPECT_EQ(scaler.growth_interval(), 2000);
}

TEST(GradScaler, S4_UpdateRule) {
    Driver driver(
        {.init_scale = 4, .growth_factor = 2, .backoff_factor = 0.25, .growth_interval = 2});
    EXPECT_EQ(driver.update(false), State(4, 1));
    EXPECT_EQ(driver.update(false), State(8, 0));
    EXPECT_EQ(driver.update(true), State(2, 0));
}

TEST(GradScaler, S5_GrowthPattern) {
    Driver driver({.init_scale = 4, .growth_interval = 3});
    const std::vector<bool> bad = {false, false, false, false, true,
                                   false, false, false, true,  true};
    std::vector<State> states;
    for (const bool overflow : bad) states.push_back(driver.update(overflow));
    EXPECT_THAT(states,
                ElementsAre(State(4, 1), State(4, 2), State(8, 0), State(8, 1), State(4, 0),
                            State(4, 1), State(4, 2), State(8, 0), State(4, 0), State(2, 0)));
}

TEST(GradScaler, S6_TheScaleDoesNotOverflow) {
    Driver driver({.init_scale = 1e38, .growth_factor = 16, .growth_interval = 1});
    const auto [scale, tracker] = driver.update(false);
    EXPECT_EQ(scale, static_cast<double>(1e38f));
    EXPECT_EQ(tracker, 0);
}

TEST(GradScaler, S8_SavedStateIsTakenOverWhetherTheDeviceScaleExistsOrNot) {
    const GradScaler saved(
        {.init_scale = 3, .growth_factor = 4, .backoff_factor = 0.5, .growth_interval = 2});
    for (const bool created : {false, true}) {
        GradScaler loaded(
            {.init_scale = 6, .growth_factor = 7, .backoff_factor = 0.8, .growth_interval = 1});
        auto with_tracker = loaded.saved_state();
        with_tracker["growth_tracker"] = 7;
        loaded.load_state(with_tracker);
        if (created) loaded.scale(Tensor::scalar(1, DType::f32));
        ASSERT_EQ(loaded.growth_tracker(), 7);

        loaded.load_state(saved.saved_state());
        EXPECT_EQ(loaded.loss_scale(), 3);
        EXPECT_EQ(loaded.growth_factor(), 4);
        EXPECT_EQ(loaded.backoff_factor(), 0.5);
        EXPECT_EQ(loaded.growth_interval(), 2);
        EXPECT_EQ(loaded.growth_tracker(), 0);
        EXPECT_EQ(loaded.scale(Tensor::scalar(1, DType::f32)).item(), 3);
    }
}

TEST(GradScaler, S9_ScalesNestedContainersAndKeepsTheirKind) {
    GradScaler scaler({.init_scale = 2});
    const Tensor four = Tensor::full({2, 2}, 4, DType::f32);
    const std::vector<std::tuple<Tensor, std::vector<Tensor>>> nested = {{four, {four, four}},
                                                                         {four, {}}};
    const std::vector<std::tuple<Tensor, std::vector<Tensor>>> scaled = scaler.scale(nested);
    ASSERT_EQ(scaled.size(), 2u);
    const std::vector<double> eights(4, 8.0);
    EXPECT_EQ(std::get<0>(scaled[0]).values(), eights);
    EXPECT_EQ(std::get<1>(scaled[0])[1].values(), eights);
    EXPECT_EQ(std::get<0>(scaled[1]).values(), eights);
    EXPECT_TRUE(std::get<1>(scaled[1]).empty());
    EXPECT_EQ(scaler.scale_tensor().device(), four.device());
}

TEST(GradScaler, S9_OtherRangesComeBackLazy) {
    GradScaler scaler({.init_scale = 2});
    const std::list<Tensor> list = {Tensor::scalar(1, DType::f32), Tensor::scalar(2, DType::f32)};
    auto lazy = scaler.scale(std::views::all(list));
    EXPECT_FALSE(scaler.scale_tensor().defined()) << "nothing is scaled before it is read";
    std::vector<double> values;
    for (const Tensor& scaled : lazy) values.push_back(scaled.item());
    EXPECT_THAT(values, ElementsAre(2, 4));
}

/// Counts how often unscale_ makes the inverse of the scale, and with it a found_inf, per device.
class InverseScales final : public OpObserver {
public:
    void on_op(const OpEvent& event) override { count_ += event.info == &reciprocal_op; }
    int count() const { return count_; }

private:
    int count_ = 0;
    ObserverScope scope_{*this};
};

TEST(GradScaler, S10_HandlesOfOneDeviceAreOneKey) {
    const Device home = default_device(), elsewhere{Device::Kind::cpu, 1};
    const Device handles[] = {home,
                              {home.kind, home.index},
                              resolve_device(to_string(home)),
                              Tensor::scalar(1, DType::f32, home).device()};
    struct Case {
        double last_gradient;
        Device device;  // device of the last gradient
        int keys;
    };
    for (const Case& c :
         {Case{8, home, 1}, Case{infinity, home, 1}, Case{infinity, elsewhere, 2}}) {
        TensorList weights;
        for (const Device& handle : handles) {
            weights.push_back(Tensor::full({1}, 1, DType::f32, handle));
            weights.back().set_requires_grad(true);
            weights.back().set_grad(Tensor::full({1}, 8, DType::f32, handle));
        }
        weights.back().set_grad(Tensor::full({1}, c.last_gradient, DType::f32, c.device));
        Sgd optimizer(named(weights), {.lr = 1});
        GradScaler scaler = ready_scaler({.init_scale = 4});
        InverseScales inverses;
        scaler.unscale_(optimizer);
        EXPECT_EQ(inverses.count(), c.keys);
        EXPECT_EQ(weights.front().grad().item(), 2);
        EXPECT_EQ(weights.back().grad().item(), c.last_gradient / 4);
        scaler.step(optimizer);
        EXPECT_EQ(scaler.skipped(optimizer), std::isinf(c.last_gradient));
        for (const Tensor& weight : weights)
            EXPECT_EQ(weight.item(), std::isinf(c.last_gradient) ? 1 : -1);
    }
}

TEST(GradScaler, ScalesAsARecordedProductOfTheTypesOf111) {
    GradScaler scaler({.init_scale = 65536});
    const Tensor loss = leaf({2}, {}, DType::f16);
    const Tensor scaled = scaler.scale(loss);
    EXPECT_EQ(scaled.dtype(), DType::f32);  // both 0-d: ordinary promotion
    EXPECT_EQ(scaled.item(), 131072);
    const Tensor row = leaf({2}, {1}, DType::f16);
    EXPECT_EQ(scaler.scale(row).dtype(), DType::f16);  // a 0-d tensor does not widen the type
    backward(scaler.scale(leaf({1}, {})));
    const Tensor w = leaf({3}, {});
    backward(scaler.scale(mul(w, w)));
    EXPECT_EQ(w.grad().item(), 6 * 65536);
}

TEST(GradScaler, S21_FusedStepsWithFoundInfWriteNothing) {
    for (const bool adam : {false, true}) {
        for (const bool scaled : {false, true}) {
            TensorList weights;
            for (int i = 0; i < 5; ++i) weights.push_back(with_grad({1}, {1}));
            std::unique_ptr<Optimizer> optimizer;
            if (adam) {
                optimizer = std::make_unique<Adam>(
                    named(weights), AdamOptions{.weight_decay = 0.01, .decoupled = true});
            } else {
                optimizer = std::make_unique<Sgd>(named(weights), SgdOptions{.momentum = 0.9});
            }
            optimizer->found_inf = Tensor::full({}, 1, DType::f32);
            if (scaled) optimizer->grad_scale = Tensor::full({}, 2, DType::f32);
            optimizer->step();
            for (const auto& weight : weights) {
                EXPECT_EQ(weight.item(), 1);
                EXPECT_EQ(weight.grad().item(), 1);
            }
            EXPECT_EQ(optimizer->steps(), 0);
        }
    }
}

TEST(GradScaler, S25_ASkippedStepLeavesMomentumAndParameterAndMakesNoState) {
    OneWeight one(false, {.lr = 0.5, .momentum = 0.9});
    GradScaler scaler = ready_scaler({.init_scale = 1});
    EXPECT_TRUE(scaler.step(one.optimizer));
    scaler.update();
    ASSERT_EQ(one.weight.item(), 0.5);
    give_grad(one.weight, {infinity});
    EXPECT_FALSE(scaler.step(one.optimizer));
    EXPECT_TRUE(scaler.skipped(one.optimizer));
    EXPECT_EQ(one.weight.item(), 0.5);
    EXPECT_EQ(one.optimizer.state(0)[0].second.item(), 1);
    EXPECT_EQ(one.optimizer.steps(), 1);

    const Tensor w = with_grad({1}, {infinity});
    Adam adam(named({w}), {.decoupled = true});
    EXPECT_FALSE(ready_scaler({}).step(adam));
    EXPECT_TRUE(adam.state(0).empty());
}

TEST(GradScaler, S26_AResumedScalerGrowsWhereTheSavedOneWouldHave) {
    Driver first({.init_scale = 8, .growth_interval = 3});
    first.update(false);
    ASSERT_EQ(first.update(false), State(8, 2));
    Driver resumed({});
    resumed.scaler.load_state(first.scaler.saved_state());
    EXPECT_EQ(resumed.update(false), State(16, 0));
}

TEST(GradScaler, SerialisedKeepsScaleAndTrackerAsInitialValues) {
    Driver driver({.init_scale = 8, .growth_interval = 2});
    driver.update(false);
    driver.update(false);
    ASSERT_EQ(driver.update(false), State(16, 1));
    GradScaler copy = driver.scaler.serialised();
    EXPECT_FALSE(copy.scale_tensor().defined());
    EXPECT_EQ(copy.loss_scale(), 16);
    EXPECT_EQ(copy.growth_tracker(), 1);
    EXPECT_EQ(copy.scale(Tensor::scalar(1, DType::f32)).item(), 16);
    EXPECT_EQ(copy.growth_tracker(), 1);
}

TEST(GradScaler, SettersActAtTheNextUpdateUnchecked) {
    Driver driver({.init_scale = 8, .growth_interval = 1});
    driver.scaler.set_growth_factor(0.5);
    EXPECT_EQ(driver.update(false), State(4, 0));
    driver.scaler.set_backoff_factor(3);
    EXPECT_EQ(driver.update(true), State(12, 0));
    driver.scaler.set_growth_interval(2);
    EXPECT_EQ(driver.update(false), State(12, 1));
}

TEST(GradScaler, AnyOverflowLowersTheCommonScaleAndEachOptimizerDecidesForItself) {
    OneWeight clean, bad;
    give_grad(bad.weight, {infinity});
    GradScaler scaler = ready_scaler({.init_scale = 4, .growth_interval = 1});
    EXPECT_TRUE(scaler.step(clean.optimizer));
    EXPECT_FALSE(scaler.step(bad.optimizer));
    scaler.update();
    EXPECT_EQ(scaler.loss_scale(), 2);
}

TEST(GradScaler, AnOptimizerThatWasOnlyUnscaledCountsToo) {
    OneWeight clean, bad;
    give_grad(bad.weight, {infinity});
    GradScaler scaler = ready_scaler({.init_scale = 4, .growth_interval = 1});
    scaler.step(clean.optimizer);
    scaler.unscale_(bad.optimizer);
    scaler.update();
    EXPECT_EQ(scaler.loss_scale(), 2);
}

TEST(GradScaler, HysteresisBacksOffOnlyAfterThatManyOverflowsInARow) {
    Driver driver({.init_scale = 8, .hysteresis = 2});
    EXPECT_EQ(driver.update(true).first, 8);
    EXPECT_EQ(driver.update(true).first, 4);
    EXPECT_EQ(driver.update(true).first, 2);
    driver.update(false);
    EXPECT_EQ(driver.update(true).first, 2);
}

TEST(GradScaler, AResumedScalerGoesOnWithItsHysteresis) {
    const ScalerOptions options{.init_scale = 8, .hysteresis = 3};
    Driver first(options);
    first.update(true);
    for (const bool created : {false, true}) {
        GradScaler resumed = created ? ready_scaler(options) : GradScaler(options);
        resumed.load_state(first.scaler.saved_state());
        Driver loaded(options), serialised(options);
        loaded.scaler = resumed;
        serialised.scaler = first.scaler.serialised();
        for (Driver* driver : {&loaded, &serialised}) {
            driver->scaler.scale(Tensor::scalar(1, DType::f32));
            EXPECT_EQ(driver->update(true).first, 8);
            EXPECT_EQ(driver->update(true).first, 4);
        }
    }
    auto without = first.scaler.saved_state();
    ASSERT_EQ(without.erase("hysteresis_tracker"), 1u);
    first.scaler.load_state(without);
    EXPECT_EQ(first.update(true).first, 8) << "a new count";
    EXPECT_EQ(first.update(true).first, 8);
    EXPECT_EQ(first.update(true).first, 4);
}

}  // namespace
}  // namespace engine
