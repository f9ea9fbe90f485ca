#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "device_support.h"
#include "engine/error.h"
#include "kernels/cuda_device.h"
#include "kernels/device.h"

namespace engine {
namespace {

using test::Bench;
using test::cuda;
using test::small_run;

/// First line of a test that needs a CUDA device, real or simulated.
#define NEEDS_CUDA()                        \
    if (kernels::cuda::device_count() == 0) \
    GTEST_SKIP() << "no CUDA device: " << kernels::cuda::why_absent()

class DeviceStep : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(DeviceStep, NeverWaitsForTheDeviceNorAsksItForMemoryAfterTheFirstSteps) {
    NEEDS_CUDA();
    const auto [model, precision] = GetParam();
    Bench bench(small_run(model, precision), cuda);
    for (int i = 0; i < 3; ++i) {
        bench.submit(i);
        (void)bench.trainer.take(false);
    }
    const auto before = kernels::cuda::call_counts();
    for (int i = 3; i < 7; ++i) {
        bench.submit(i);
        EXPECT_TRUE(bench.trainer.take(false).has_value()) << "the step before";
    }
    const auto after = kernels::cuda::call_counts();
    EXPECT_EQ(after.synchronizations, before.synchronizations);
    EXPECT_EQ(after.allocations, before.allocations);
    EXPECT_GT(after.launches, before.launches);
}

// What the two may differ by: f32 sums in another order. A first step's loss is a mean of 16 sums
// of some hundred products each, so a few hundred half units of f32; a 16-bit type rounds every
// activation once, and another order of its f32 sum can turn a rounding: a unit of the type.
double loss_tolerance(const std::string& precision) {
    if (precision == "fp32") return 256 * 0x1p-24;
    return precision == "amp-bf16" ? 0x1p-8 : 0x1p-11;
}

TEST_P(DeviceStep, ComputesTheLossAndTheGradientsOfTheCpu) {
    NEEDS_CUDA();
    const auto [model, precision] = GetParam();
    const RunConfig config = small_run(model, precision);
    Bench host(config, Device{}), device(config, cuda);
    const double tolerance = loss_tolerance(precision);
    const StepRecord expected = host.step(0).row, row = device.step(0).row;
    EXPECT_NEAR(row.loss, expected.loss, tolerance * (1 + std::abs(expected.loss)));
    EXPECT_EQ(row.found_inf, expected.found_inf);
    EXPECT_EQ(row.loss_scale, expected.loss_scale);
    EXPECT_EQ(row.updates, expected.updates);
    EXPECT_FLOAT_EQ(row.lr, expected.lr);
    EXPECT_NEAR(row.grad_norm, expected.grad_norm, 64 * tolerance * expected.grad_norm);
    EXPECT_EQ(std::isnan(row.scaled_f16_max), std::isnan(expected.scaled_f16_max));
    EXPECT_EQ(row.samples, expected.samples);
}

TEST_P(DeviceStep, TellsEveryStepOnceInOrderAndOneStepLate) {
    NEEDS_CUDA();
    const auto [model, precision] = GetParam();
    Bench bench(small_run(model, precision), cuda);
    bench.submit(0);
    EXPECT_FALSE(bench.trainer.take(false).has_value());
    for (int i = 1; i < 5; ++i) {
        bench.submit(i);
        EXPECT_EQ(bench.trainer.take(false).value().row.step, i);
    }
    EXPECT_EQ(bench.trainer.take(true).value().row.step, 5);
    EXPECT_FALSE(bench.trainer.take(true).has_value());
}

INSTANTIATE_TEST_SUITE_P(Runs, DeviceStep,
                         testing::Values(std::pair{"mlp", "fp32"}, std::pair{"mlp", "amp-fp16"},
                                         std::pair{"mlp", "amp-bf16"},
                                         std::pair{"mlp", "pure-fp16"}, std::pair{"lenet", "fp32"},
                                         std::pair{"lenet", "amp-fp16"},
                                         std::pair{"lenet", "amp-bf16"}),
                         [](const auto& run) {
                             std::string name =
                                 std::string(run.param.first) + "_" + run.param.second;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

TEST(DeviceStep, SkipsAnOverflowingStepAndMovesTheScaleWithoutTheHost) {
    NEEDS_CUDA();
    RunConfig config = small_run("mlp", "amp-fp16");
    config.scaler.init_scale = 0x1p30;  // overflows in fp16
    Bench bench(config, cuda);
    const auto weights = [&] { return bench.trainer.model().parameters()[0].tensor.values(); };
    const auto before = weights();
    const FinishedStep skipped = bench.step(0);
    EXPECT_EQ(skipped.row.found_inf, 1);
    EXPECT_EQ(skipped.row.updates, 0);
    EXPECT_EQ(skipped.row.loss_scale, 0x1p30f);
    EXPECT_EQ(skipped.next_loss_scale, 0x1p29);
    EXPECT_EQ(weights(), before) << "a skipped step writes nothing";
}

TEST(DeviceStep, FollowsTheScheduleOfAppliedUpdates) {
    NEEDS_CUDA();
    RunConfig config = small_run("mlp", "amp-fp16");
    config.schedule.kind = "cosine";
    config.scaler.init_scale = 0x1p26;
    Bench host(config, Device{}), device(config, cuda);
    for (int i = 0; i < 12; ++i) {
        const StepRecord expected = host.step(i).row, row = device.step(i).row;
        ASSERT_EQ(row.updates, expected.updates) << "step " << i;
        ASSERT_EQ(row.lr, expected.lr);
        ASSERT_EQ(row.loss_scale, expected.loss_scale);
        ASSERT_EQ(row.growth_tracker, expected.growth_tracker);
    }
}

TEST(DeviceStep, ClipsAndAccumulatesAsTheCpuDoes) {
    NEEDS_CUDA();
    for (const char* clip : {"norm", "value"}) {
        RunConfig config = small_run("mlp", "amp-fp16");
        config.accumulate = 2;
        config.clip.kind = clip;
        config.clip.value = 0.01;
        Bench host(config, Device{}), device(config, cuda);
        const auto step = [](Bench& bench) {
            bench.batches.resize(2);
            bench.maker.make(bench.batches[0], 0, 0);
            bench.maker.make(bench.batches[1], 0, 1);
            return bench.trainer.step(bench.batches, *bench.feed).row;
        };
        const StepRecord expected = step(host), row = step(device);
        EXPECT_EQ(row.samples, 32);
        EXPECT_NEAR(row.loss, expected.loss, loss_tolerance("amp-fp16") * expected.loss);
        const auto a = host.trainer.model().parameters()[0].tensor.values();
        const auto b = device.trainer.model().parameters()[0].tensor.values();
        for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-5) << clip;
    }
}

TEST(DeviceStep, EvaluatesAsTheCpuDoes) {
    NEEDS_CUDA();
    const RunConfig config = small_run("lenet", "fp32");
    Bench host(config, Device{}), device(config, cuda);
    for (Bench* bench : {&host, &device}) {
        for (int i = 0; i < 3; ++i) {
            bench->batches.resize(1);
            bench->maker.make(bench->batches[0], 0, i);
            bench->trainer.evaluate(bench->batches[0], *bench->feed);
        }
    }
    const Tally expected = host.trainer.take_evaluation(), tally = device.trainer.take_evaluation();
    EXPECT_EQ(tally.samples, 48);
    EXPECT_EQ(tally.correct, expected.correct);
    EXPECT_NEAR(tally.loss(), expected.loss(), loss_tolerance("fp32") * (1 + expected.loss()));
    EXPECT_EQ(device.trainer.take_evaluation().samples, 0);
}

}  // namespace
}  // namespace engine
