#include "optim/loss_scaler.h"

#include "ops/index/sparse.h"
#include "scaler_support.h"
#include "tensor/device.h"

namespace engine {
namespace {

/// One weight of 1 that SGD with rate 1 steps by its gradient over the scale.
struct ScaledWeight {
    explicit ScaledWeight(ScalerMode mode, const ScalerConfig& config = {.init_scale = 8})
        : scaler(mode, config, default_device()) {}
    /// A step on this gradient; moves the scale as the kernel that ends a step does.
    void make(double gradient) {
        scaler.begin();
        give_grad(one.weight, {gradient});
        scaler.step(one.optimizer, checked(one.optimizer));
        kernels::StepEnding ending;
        const Tensor found_inf = scaler.end(ending);
        if (ending.scale == nullptr) return;
        on(default_device(), kernels::cpu::update_scale, kernels::cuda::update_scale)(
            ending.scale, ending.growth_tracker, ending.hysteresis_left, ending.found_inf,
            ending.rule, current_stream());
    }
    OneWeight one{/*scaling_aware=*/true};
    LossScaler scaler;
};

TEST(LossScaler, StepsBySmallerGradientsAndSkipsOverflows) {
    ScaledWeight step(ScalerMode::dynamic);
    step.make(4);
    EXPECT_EQ(step.one.weight.item(), 0.5);
    step.make(infinity);
    EXPECT_EQ(step.one.weight.item(), 0.5);
    EXPECT_EQ(step.one.optimizer.steps(), 1);
    EXPECT_EQ(step.scaler.scale().item(), 4);
    EXPECT_FALSE(step.one.optimizer.found_inf.defined());
}

TEST(LossScaler, AConstantScaleNeitherMovesNorSkips) {
    ScaledWeight step(ScalerMode::constant);
    step.make(infinity);
    EXPECT_EQ(step.one.weight.item(), -infinity);
    EXPECT_EQ(step.scaler.scale().item(), 8);
    EXPECT_TRUE(step.scaler.saved_state().empty());
}

TEST(LossScaler, WithoutAScaleTheLossStaysItself) {
    ScaledWeight step(ScalerMode::off);
    const Tensor loss = Tensor::scalar(3, DType::f32);
    EXPECT_EQ(step.scaler.scaled(loss).impl(), loss.impl());
    step.make(0.5);
    EXPECT_EQ(step.one.weight.item(), 0.5);
    EXPECT_FALSE(step.scaler.scale().defined());
}

TEST(LossScaler, AnOverflowOfAnyOptimizerMovesTheScaleOnce) {
    LossScaler scaler(ScalerMode::dynamic, {.init_scale = 8}, default_device());
    OneWeight clean(true), bad(true);
    give_grad(bad.weight, {infinity});
    scaler.begin();
    for (OneWeight* each : {&clean, &bad}) scaler.step(each->optimizer, checked(each->optimizer));
    kernels::StepEnding ending;
    EXPECT_EQ(scaler.end(ending).item(), 1);
    EXPECT_NE(clean.weight.item(), 1);
    EXPECT_EQ(bad.weight.item(), 1);
}

TEST(LossScaler, GoesOnWithASavedScaleUnderItsOwnPolicy) {
    const ScalerConfig config{.init_scale = 8, .growth_interval = 2, .hysteresis = 3};
    ScaledWeight first(ScalerMode::dynamic, config);
    first.make(1);
    first.make(1);
    first.make(infinity);
    const auto saved = first.scaler.saved_state();
    EXPECT_EQ(saved.at("scale"), 16);
    EXPECT_EQ(saved.at("growth_tracker"), 0);
    EXPECT_EQ(saved.at("hysteresis_tracker"), 2);
    ScaledWeight second(ScalerMode::dynamic, {.init_scale = 2, .growth_interval = 1});
    second.scaler.load_state({16, 0, 1});
    second.make(1);
    EXPECT_EQ(second.scaler.scale().item(), 32);
}

TEST(CheckGradients, LeavesOutWhatIsUndefinedAndReadsSparseValues) {
    const DeviceRecord<kernels::GradientStatistics> out(default_device());
    const Tensor sparse = sparse_tensor(Tensor::of({1, 2}, {1, 2}, DType::i64),
                                        Tensor::of({3, 4}, {2}, DType::f32), {3});
    check_gradients(out, TensorList{Tensor(), sparse, Tensor::of({12}, {1}, DType::f32)});
    EXPECT_EQ(out.host().sum_squares, 9 + 16 + 144);
    EXPECT_EQ(out.host().total, 3);
}

}  // namespace
}  // namespace engine
