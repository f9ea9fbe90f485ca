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

// Optimizers that divide by the scale themselves (scaling_aware).
namespace engine {
namespace {

/// An f32 value in memory of the tests' device.
double value_at(const float* on_device) {
    float value = 0;
    copy_to_host(&value, on_device, sizeof(value), default_device());
    return static_cast<double>(value);
}

/// Records the scale and the flag that reach the kernel.
class Probe final : public Optimizer {
public:
    explicit Probe(std::vector<Parameter> parameters)
        : Optimizer(std::move(parameters), {.scaling_aware = true}, 1) {}

    int calls = 0;
    double seen_scale = 0;  // 0: none
    double seen_flag = -1;  // -1: none

protected:
    void make_state(std::size_t) override {}
    void run(std::span<const kernels::UpdateTensor>, const kernels::UpdateScalars& scalars,
             kernels::UpdateCounts*) override {
        ++calls;
        seen_scale = scalars.grad_scale ? value_at(scalars.grad_scale) : 0;
        seen_flag = scalars.found_inf ? value_at(scalars.found_inf) : -1;
    }
};

TEST(GradScaler, S20_AScalingAwareOptimizerFindsItsTwoValuesForOneStep) {
    const Tensor w = with_grad({1}, {8});
    Probe probe(named({w}));
    GradScaler scaler = ready_scaler({.init_scale = 8});
    EXPECT_TRUE(scaler.step(probe));
    EXPECT_EQ(probe.seen_scale, 8);
    EXPECT_EQ(probe.seen_flag, 0);
    EXPECT_FALSE(probe.grad_scale.defined());
    EXPECT_FALSE(probe.found_inf.defined());
    EXPECT_EQ(w.grad().item(), 8) << "the check does not unscale";
    scaler.update();

    give_grad(w, {infinity});
    EXPECT_TRUE(scaler.step(probe)) << "the step is always called";
    EXPECT_EQ(probe.calls, 2);
    EXPECT_EQ(probe.seen_flag, 1);
    EXPECT_TRUE(scaler.skipped(probe));
}

TEST(GradScaler, S20_GradScaleIsAbsentAfterUnscale) {
    Probe probe(named({with_grad({1}, {8})}));
    GradScaler scaler = ready_scaler({.init_scale = 8});
    scaler.unscale_(probe);
    scaler.step(probe);
    EXPECT_EQ(probe.seen_scale, 0);
    EXPECT_EQ(probe.seen_flag, 0);
}

TEST(GradScaler, S20_AnOverflowThatUnscaleFoundOutlastsAChangeOfTheGradients) {
    const Tensor w = with_grad({1, 2}, {infinity, 8});
    Sgd optimizer(named({w}), {.lr = 1}, {.scaling_aware = true});
    GradScaler scaler = ready_scaler({.init_scale = 8});
    scaler.unscale_(optimizer);
    give_grad(w, {0, 1});
    scaler.step(optimizer);
    EXPECT_TRUE(scaler.skipped(optimizer));
    EXPECT_EQ(w.values(), (std::vector<double>{1, 2}));
    EXPECT_EQ(optimizer.steps(), 0);
    scaler.update();
    EXPECT_EQ(scaler.loss_scale(), 4);
}

TEST(GradScaler, S20_ACleanUnscaleStepsAndCountsOnce) {
    const Tensor w = with_grad({1, 2}, {8, 16});
    Sgd optimizer(named({w}), {.lr = 1}, {.scaling_aware = true});
    GradScaler scaler = ready_scaler({.init_scale = 8, .growth_interval = 2});
    scaler.unscale_(optimizer);
    EXPECT_EQ(checked(optimizer).host().sum_squares, 5);
    scaler.step(optimizer);
    scaler.update();
    EXPECT_EQ(w.values(), (std::vector<double>{0, 0}));
    EXPECT_EQ(scaler.loss_scale(), 8);
    EXPECT_EQ(scaler.growth_tracker(), 1);
}

TEST(GradScaler, S20_AUsersOwnGradScaleIsMultipliedOrKept) {
    Probe probe(named({with_grad({1}, {8})}));
    GradScaler scaler = ready_scaler({.init_scale = 8});
    probe.grad_scale = Tensor::full({}, 3, DType::f32);
    scaler.step(probe);
    EXPECT_EQ(probe.seen_scale, 24);
    EXPECT_EQ(probe.grad_scale.item(), 3) << "the user's value stays";
    scaler.update();
    scaler.unscale_(probe);
    scaler.step(probe);
    EXPECT_EQ(probe.seen_scale, 3);
}

TEST(GradScaler, S20_TheValuesAreGoneAlsoAfterAStepThatFails) {
    class Failing final : public Optimizer {
    public:
        explicit Failing(std::vector<Parameter> parameters)
            : Optimizer(std::move(parameters), {.scaling_aware = true}, 1) {}

    protected:
        void make_state(std::size_t) override { throw Error(ErrorCode::memory, "no room"); }
        void run(std::span<const kernels::UpdateTensor>, const kernels::UpdateScalars&,
                 kernels::UpdateCounts*) override {}
    };
    Failing failing(named({with_grad({1}, {8})}));
    GradScaler scaler = ready_scaler({.init_scale = 8});
    EXPECT_THROW(scaler.step(failing), Error);
    EXPECT_FALSE(failing.grad_scale.defined());
    EXPECT_FALSE(failing.found_inf.defined());
}

TEST(GradScaler, S20_AnAwareOptimizerTakesF16Gradients) {
    const Tensor w = with_grad({1}, {0.5}, DType::f16);
    Sgd optimizer(named({w}), {.lr = 1}, {.scaling_aware = true});
    GradScaler scaler = ready_scaler({.init_scale = 2});
    scaler.step(optimizer);
    EXPECT_EQ(w.item(), 0.75);
    EXPECT_EQ(w.grad().item(), 0.25) << "the unscaled gradient is written back";
}

TEST(GradScaler, S20_AnAwareOptimizerWithoutGradientsStepsAndUpdateReportsIt) {
    Sgd optimizer(named({leaf({1}, {1})}), {.lr = 1}, {.scaling_aware = true});
    GradScaler scaler = ready_scaler({});
    EXPECT_TRUE(scaler.step(optimizer));
    expect_error(ErrorCode::state, "no inf checks", [&] { scaler.update(); });
}

TEST(GradScaler, S20_AfterAnOverflowAPlainOptimizersGradientsAreUnscaledAndAnAwareOnesAreNot) {
    for (const bool aware : {false, true}) {
        const Tensor w = with_grad({1, 1}, {infinity, 8});
        Sgd optimizer(named({w}), {.lr = 1}, {.scaling_aware = aware});
        GradScaler scaler = ready_scaler({.init_scale = 8});
        scaler.step(optimizer);
        EXPECT_EQ(w.grad().values()[1], aware ? 8 : 1);
        EXPECT_EQ(w.values(), (std::vector<double>{1, 1}));
    }
}

}  // namespace
}  // namespace engine
