#include <cmath>

#include "scaler_support.h"
#include "support/element.h"

namespace engine {
namespace {

enum class Stage { ready, unscaled, stepped };

/// A scaler and an optimizer in one of the stages of loss-scaler.md#stages (2.2).
struct At {
    explicit At(Stage stage, bool aware)
        : one(aware), scaler(ready_scaler({.init_scale = 1, .growth_interval = 1})) {
        if (stage == Stage::unscaled) scaler.unscale_(one.optimizer);
        if (stage == Stage::stepped) scaler.step(one.optimizer);
    }
    OneWeight one;
    GradScaler scaler;
};

TEST(GradScaler, StateMachineAllowsUnscaleOnlyFromReady) {
    for (const bool aware : {false, true}) {
        At ready(Stage::ready, aware), unscaled(Stage::unscaled, aware),
            stepped(Stage::stepped, aware);
        ready.scaler.unscale_(ready.one.optimizer);
        expect_error(ErrorCode::state, "already unscaled since the last update",
                     [&] { unscaled.scaler.unscale_(unscaled.one.optimizer); });
        expect_error(ErrorCode::state, "called after step()",
                     [&] { stepped.scaler.unscale_(stepped.one.optimizer); });
    }
}

TEST(GradScaler, StateMachineAllowsStepFromReadyAndUnscaled) {
    for (const bool aware : {false, true}) {
        for (const Stage stage : {Stage::ready, Stage::unscaled}) {
            At at(stage, aware);
            EXPECT_TRUE(at.scaler.step(at.one.optimizer));
            EXPECT_EQ(at.one.weight.item(), 0);
        }
        At stepped(Stage::stepped, aware);
        expect_error(ErrorCode::state, "already stepped since the last update",
                     [&] { stepped.scaler.step(stepped.one.optimizer); });
    }
}

TEST(GradScaler, StateMachineReturnsToReadyByUpdateFromEveryStage) {
    for (const bool aware : {false, true}) {
        for (const Stage stage : {Stage::unscaled, Stage::stepped}) {
            At at(stage, aware);
            at.scaler.update();
            at.scaler.unscale_(at.one.optimizer);  // allowed again
            at.scaler.update(2.0);
            at.scaler.unscale_(at.one.optimizer);
        }
    }
}

TEST(GradScaler, StateMachineARefusedF16GradientLeavesReady) {
    const Tensor w = with_grad({1}, {1}, DType::f16);
    Sgd optimizer(named({w}), {.lr = 1});
    GradScaler scaler = ready_scaler({.init_scale = 2});
    for (int attempt = 0; attempt < 2; ++attempt) {
        expect_error(ErrorCode::value, "f16 gradients cannot be unscaled",
                     [&] { scaler.unscale_(optimizer); });
        expect_error(ErrorCode::value, "f16 gradients cannot be unscaled",
                     [&] { scaler.step(optimizer); });
    }
    w.set_grad(Tensor::of({2}, {1}));
    scaler.unscale_(optimizer);
    EXPECT_EQ(w.grad().item(), 1);
}

TEST(GradScaler, StateMachineARefusedF16GradientLeavesTheOthersScaled) {
    const Tensor first = with_grad({1}, {8}), low = with_grad({1}, {8}, DType::f16);
    Sgd optimizer(named({first, low}), {.lr = 1});
    GradScaler scaler = ready_scaler({.init_scale = 8});
    EXPECT_THROW(scaler.unscale_(optimizer), Error);
    EXPECT_EQ(first.grad().item(), 8);
}

TEST(GradScaler, StateMachineMissingInfChecksLeaveUnscaled) {
    const Tensor w = leaf({1}, {1});
    Sgd optimizer(named({w}), {.lr = 1});
    GradScaler scaler = ready_scaler({});
    expect_error(ErrorCode::state, "no inf checks for this optimizer",
                 [&] { scaler.step(optimizer); });
    expect_error(ErrorCode::state, "already unscaled", [&] { scaler.unscale_(optimizer); });
}

TEST(GradScaler, S27_FactorsOutOfRangeAreRefusedAtConstruction) {
    expect_error(ErrorCode::state, "growth_factor", [] { GradScaler({.growth_factor = 1}); });
    expect_error(ErrorCode::state, "growth_factor",
                 [] { GradScaler({.growth_factor = not_a_number}); });
    expect_error(ErrorCode::state, "backoff_factor", [] { GradScaler({.backoff_factor = 1}); });
}

TEST(GradScaler, S27_EveryCallNeedsAScaleFirst) {
    OneWeight one;
    GradScaler scaler;
    expect_error(ErrorCode::state, "unscale_", [&] { scaler.unscale_(one.optimizer); });
    expect_error(ErrorCode::state, "step", [&] { scaler.step(one.optimizer); });
    expect_error(ErrorCode::state, "update", [&] { scaler.update(); });
    expect_error(ErrorCode::state, "update", [&] { scaler.update(2.0); });
    expect_error(ErrorCode::state, "update",
                 [&] { scaler.update(Tensor::full({}, 2, DType::f32)); });
}

TEST(GradScaler, S27_UpdateNeedsAnInfCheckSinceTheLastOne) {
    OneWeight one;
    GradScaler scaler = ready_scaler({});
    expect_error(ErrorCode::state, "no inf checks", [&] { scaler.update(); });
    scaler.step(one.optimizer);
    scaler.update();
    expect_error(ErrorCode::state, "no inf checks", [&] { scaler.update(); });
}

template <typename T>
concept CanUpdateWith = requires(GradScaler scaler, T value) {
    scaler.update(value);
};
template <typename T>
concept CanScale = requires(GradScaler scaler, T value) {
    scaler.scale(value);
};
template <typename F>
concept CanStepWith = requires(GradScaler scaler, Optimizer& optimizer, F closure) {
    scaler.step(optimizer, closure);
};

TEST(GradScaler, S27_ClosuresIntegersAndWhatCannotBeScaledDoNotCompile) {
    const auto closure = [] { return 0.0; };
    static_assert(!CanStepWith<decltype(closure)>);
    static_assert(CanUpdateWith<double> && CanUpdateWith<float> && CanUpdateWith<Tensor>);
    static_assert(!CanUpdateWith<int> && !CanUpdateWith<std::int64_t> && !CanUpdateWith<bool>);
    static_assert(CanScale<Tensor> && CanScale<std::vector<Tensor>>);
    static_assert(!CanScale<double> && !CanScale<std::string>);
    expect_error(ErrorCode::value, "only tensors", [] { GradScaler().scale(Tensor()); });
}

TEST(GradScaler, S27_ANewScaleMustBeOneFloatingElementWithoutGradient) {
    GradScaler scaler = ready_scaler({});
    expect_error(ErrorCode::state, "one element",
                 [&] { scaler.update(Tensor::full({2}, 2, DType::f32)); });
    expect_error(ErrorCode::state, "one element", [&] { scaler.update(Tensor()); });
    expect_error(ErrorCode::state, "without a gradient", [&] { scaler.update(leaf({2}, {})); });
    expect_error(ErrorCode::dtype, "must be floating",
                 [&] { scaler.update(Tensor::full({}, 2, DType::i64)); });
    EXPECT_EQ(scaler.loss_scale(), 65536);
}

TEST(GradScaler, S27_ANewScaleIsCopiedAndTouchesNeitherTrackerNorWaitsForAStep) {
    GradScaler scaler = ready_scaler({});
    OneWeight one;
    scaler.step(one.optimizer);
    scaler.update();
    ASSERT_EQ(scaler.growth_tracker(), 1);
    const Tensor t = Tensor::full({1}, 32, DType::f32);
    scaler.update(t);
    set_element(t, 0, 5);
    EXPECT_EQ(scaler.loss_scale(), 32);
    EXPECT_EQ(scaler.growth_tracker(), 1);
    give_grad(one.weight, {infinity});
    scaler.unscale_(one.optimizer);
    scaler.update(64.0);  // recorded flags are ignored and discarded
    EXPECT_EQ(scaler.loss_scale(), 64);
    expect_error(ErrorCode::state, "no inf checks", [&] { scaler.update(); });
}

TEST(GradScaler, S27_LoadingNeedsAWholeState) {
    GradScaler scaler({.init_scale = 7});
    expect_error(ErrorCode::state, "disabled scaler", [&] { scaler.load_state({}); });
    const auto whole = GradScaler({.init_scale = 3}).saved_state();
    ASSERT_EQ(whole.size(), 5u);
    for (const auto& [key, value] : whole) {
        auto lacking = whole;
        lacking.erase(key);
        expect_error(ErrorCode::value, key, [&] { scaler.load_state(lacking); });
        EXPECT_EQ(scaler.loss_scale(), 7) << "a refused state changes nothing";
    }
}

TEST(GradScaler, S27_SerialisingIsForTheStartOrAfterUpdate) {
    At at(Stage::unscaled, false);
    expect_error(ErrorCode::state, "serialised", [&] { at.scaler.serialised(); });
    at.scaler.step(at.one.optimizer);
    expect_error(ErrorCode::state, "serialised", [&] { at.scaler.serialised(); });
    at.scaler.update();
    EXPECT_EQ(at.scaler.serialised().loss_scale(), 2);
}

TEST(GradScaler, S24_ADisabledScalerDoesNothing) {
    GradScaler scaler({.growth_factor = 0.5, .backoff_factor = 7, .enabled = false});
    EXPECT_FALSE(scaler.is_enabled());
    const Tensor loss = leaf({3}, {});
    EXPECT_EQ(scaler.scale(loss).impl(), loss.impl()) << "the same object";
    EXPECT_FALSE(scaler.scale(Tensor()).defined()) << "unchecked";

    OneWeight one;
    give_grad(one.weight, {infinity});
    scaler.unscale_(one.optimizer);
    scaler.unscale_(one.optimizer);
    EXPECT_EQ(one.weight.grad().item(), infinity);
    EXPECT_TRUE(scaler.step(one.optimizer));
    EXPECT_TRUE(scaler.step(one.optimizer)) << "no stages";
    EXPECT_FALSE(std::isfinite(one.weight.item())) << "no check";
    scaler.update();
    scaler.update(3.0);
    scaler.update(Tensor());
    EXPECT_EQ(scaler.loss_scale(), 1.0);
    EXPECT_TRUE(scaler.saved_state().empty());
    scaler.load_state({{"scale", 5}});
    EXPECT_EQ(scaler.loss_scale(), 1.0);
    EXPECT_FALSE(scaler.serialised().is_enabled());
}

}  // namespace
}  // namespace engine
