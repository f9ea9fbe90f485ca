#include "autograd/backward.h"
#include "harness.h"
#include "ops/loss/loss.h"
#include "ops/shape/sum.h"
#include "support/element.h"
#include "support/here.h"

namespace engine {
namespace {

using MakeOptimizer = std::function<std::unique_ptr<Optimizer>(const Net& net, bool scaling_aware)>;

template <class Kind, class Options>
MakeOptimizer with(const Options& settings) {
    return [settings](const Net& net, bool scaling_aware) -> std::unique_ptr<Optimizer> {
        return std::make_unique<Kind>(named(net.parameters), settings,
                                      OptimizerOptions{.scaling_aware = scaling_aware});
    };
}

MakeOptimizer with_larc(const SgdOptions& settings) {
    return [settings](const Net& net, bool scaling_aware) -> std::unique_ptr<Optimizer> {
        return std::make_unique<Sgd>(
            named(net.parameters), settings,
            OptimizerOptions{.scaling_aware = scaling_aware, .larc = {.on = true, .clip = false}});
    };
}

const MakeOptimizer plain_sgd = with<Sgd>(SgdOptions{.lr = 1});
const SgdOptions momentum{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.01, .nesterov = true};

/// A large eps keeps quotients such as m / sqrt(v) smooth if a gradient is near 0.
const std::vector<MakeOptimizer> optimizers_of_the_harness = {
    plain_sgd,
    with<Sgd>(momentum),
    with_larc(momentum),
    with<Adam>(AdamOptions{.lr = 0.05, .eps = 1e-3, .weight_decay = 0.01}),
    with<Adam>(AdamOptions{.lr = 0.05, .eps = 1e-3, .amsgrad = true}),
    with<Adam>(AdamOptions{.lr = 0.05, .eps = 1e-3, .weight_decay = 0.01, .decoupled = true}),
    with<Adam>(AdamOptions{
        .lr = 0.05, .eps = 1e-3, .weight_decay = 0.01, .amsgrad = true, .decoupled = true}),
    with<Adagrad>(AdagradOptions{.lr = 0.05, .eps = 1e-3}),
    with<Lamb>(LambOptions{.lr = 0.05, .eps = 1e-3}),
    with<NovoGrad>(NovoGradOptions{.lr = 0.05, .weight_decay = 0.01}),
};

struct HarnessRun {
    MakeOptimizer make = plain_sgd;
    bool aware = false;
    bool region = false;
    bool separate_unscale = false;
    bool serialise = false;
    bool enabled = true;
    bool with_scaler = true;
    bool spoiled = true;
};

struct HarnessResult {
    Net net;
    std::unique_ptr<Optimizer> optimizer;
    std::unique_ptr<GradScaler> scaler;
    std::vector<double> losses;
    int skipped = 0;
};

HarnessResult run_harness(const HarnessRun& how) {
    HarnessResult out;
    out.optimizer = how.make(out.net, how.aware);
    out.scaler = std::make_unique<GradScaler>(ScalerOptions{
        .init_scale = 128, .growth_interval = 1, .enabled = how.enabled && how.with_scaler});
    const AutocastRegion region(here, how.region, DType::f16);
    const auto batches = harness_batches();
    for (int i = 0; i < 4; ++i) {
        const auto& batch = batches[static_cast<std::size_t>(i)];
        out.optimizer->zero_grad();
        Tensor loss;
        {
            const auto entered = region.enter();
            loss = mse_loss(out.net(batch.input), batch.target);
        }
        out.losses.push_back(loss.item());
        backward(out.scaler->scale(loss));
        const bool bad = how.spoiled && i == bad_batch;
        if (bad && how.with_scaler) spoil(out.net);
        if (!how.with_scaler) {
            // The control run has no scaler that would skip the step.
            if (!bad) out.optimizer->step();
            continue;
        }
        if (how.separate_unscale) out.scaler->unscale_(*out.optimizer);
        out.scaler->step(*out.optimizer);
        out.skipped += out.scaler->skipped(*out.optimizer) ? 1 : 0;
        out.scaler->update();
        if (how.serialise) *out.scaler = out.scaler->serialised();
    }
    return out;
}

/// The state after the last step, which did not overflow.
void expect_same_training(const HarnessResult& control, const HarnessResult& scaled,
                          double tolerance) {
    ASSERT_EQ(control.losses.size(), scaled.losses.size());
    for (std::size_t i = 0; i < control.losses.size(); ++i)
        EXPECT_NEAR(control.losses[i], scaled.losses[i], tolerance) << "loss " << i;
    expect_match(control.net, *control.optimizer, scaled.net, *scaled.optimizer, tolerance);
}

TEST(GradScaler, S11_HarnessEqualsPlainTrainingAndCountsGoodAndSkippedSteps) {
    for (const bool aware : {false, true}) {
        const HarnessResult control = run_harness({.with_scaler = false});
        const HarnessResult scaled = run_harness({.aware = aware});
        // Powers of two do not change any rounding, so the two are equal and not only close.
        expect_same_training(control, scaled, 0);
        EXPECT_EQ(scaled.skipped, 1);
        EXPECT_EQ(scaled.scaler->loss_scale(), 128 * 8 * 0.5);
    }
}

TEST(GradScaler, S11_HarnessWithADisabledScalerIsPlainTraining) {
    const HarnessResult control = run_harness({.with_scaler = false, .spoiled = false});
    const HarnessResult disabled = run_harness({.enabled = false, .spoiled = false});
    expect_same_training(control, disabled, 0);
    EXPECT_EQ(disabled.scaler->loss_scale(), 1);
}

TEST(GradScaler, S12_HarnessUnderAutocastWithTheScalerSerialisedEveryIteration) {
    for (const auto& make : optimizers_of_the_harness) {
        for (const bool aware : {false, true}) {
            const HarnessResult control =
                run_harness({.make = make, .region = true, .with_scaler = false});
            const HarnessResult scaled =
                run_harness({.make = make, .aware = aware, .region = true, .serialise = true});
            expect_same_training(control, scaled, 1e-3);
            EXPECT_EQ(scaled.scaler->loss_scale(), 128 * 8 * 0.5);
        }
    }
}

TEST(GradScaler, S13_TheFusedFormEqualsThePlainOneWithAndWithoutASeparateUnscale) {
    for (const auto& make : optimizers_of_the_harness) {
        for (const bool separate : {false, true}) {
            const HarnessResult plain = run_harness({.make = make, .separate_unscale = separate});
            const HarnessResult fused =
                run_harness({.make = make, .aware = true, .separate_unscale = separate});
            expect_same_training(plain, fused, 0);
            EXPECT_EQ(plain.skipped, 1);
            EXPECT_EQ(fused.skipped, 1);
        }
    }
}

TEST(GradScaler, S14_AnInfPutInAfterUnscaleIsNotNoticed) {
    for (const auto& make : optimizers_of_the_harness) {
        for (const bool aware : {false, true}) {
            for (const double bad : {infinity, not_a_number}) {
                Net net;
                const auto optimizer = make(net, aware);
                GradScaler scaler({.init_scale = 128});
                const auto batch = harness_batches().front();
                backward(scaler.scale(mse_loss(net(batch.input), batch.target)));
                scaler.unscale_(*optimizer);
                set_element(net.second_weight().grad(), 5, bad);
                EXPECT_TRUE(scaler.step(*optimizer));
                EXPECT_FALSE(scaler.skipped(*optimizer));
                EXPECT_FALSE(std::isfinite(net.second_weight().values()[5]));
            }
        }
    }
}

TEST(GradScaler, S22_HostTwinOfTheCapturedGraph) {
    const Tensor weight = leaf(std::vector<double>(100, 1.0), {100});
    Sgd optimizer(named({weight}), {.lr = 0.1});
    GradScaler scaler({.init_scale = 4, .growth_interval = 2});
    const double inputs[] = {5, 20000, 5, 40000};
    const double gradients[] = {20, infinity, 10, infinity};
    const double scales[] = {4, 2, 2, 1};
    const std::int64_t trackers[] = {1, 0, 1, 0};
    for (int i = 0; i < 4; ++i) {
        optimizer.zero_grad();
        const Tensor input = Tensor::full({100}, inputs[i], DType::f16);
        backward(scaler.scale(sum(mul(to(weight, DType::f16), input))));
        EXPECT_THAT(weight.grad().values(), testing::Each(gradients[i]));
        scaler.step(optimizer);
        scaler.update();
        EXPECT_EQ(scaler.loss_scale(), scales[i]);
        EXPECT_EQ(scaler.growth_tracker(), trackers[i]);
    }
    // Two updates by 0.1 * 5, in f32.
    EXPECT_THAT(weight.values(), testing::Each(testing::DoubleNear(0, 1e-7)));
}

}  // namespace
}  // namespace engine
