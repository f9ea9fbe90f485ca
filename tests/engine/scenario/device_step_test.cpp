#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "engine/base/error.h"
#include "kernels/cuda_device.h"
#include "needs_cuda.h"
#include "support/device_support.h"
#include "support/few_pictures.h"
#include "train/step/step_marks.h"

namespace engine {
namespace {

using test::cuda;
using test::small_run;
using test::TrainerFixture;

class DeviceStep : public testing::TestWithParam<std::pair<std::string, std::string>> {};

void expect_no_waiting(const std::string& model, const std::string& precision, bool recorded,
                       std::int64_t accumulate = 1) {
    RunConfig config = small_run(model, precision);
    config.accumulate = accumulate;
    config.batch_size = 2;  // whether the code waits does not depend on it
    TrainerFixture fixture(config, cuda);
    fixture.trainer.set_recording(recorded);
    for (int i = 0; i < 5; ++i) {
        fixture.submit(i);
        (void)fixture.trainer.take(false);
    }
    const auto before = kernels::cuda::call_counts();
    const std::int64_t waits = waits_for_events();
    for (int i = 5; i < 9; ++i) {
        fixture.submit(i);
        EXPECT_TRUE(fixture.trainer.take(false).has_value()) << "the step before";
    }
    const auto after = kernels::cuda::call_counts();
    EXPECT_EQ(after.synchronizations, before.synchronizations);
    EXPECT_EQ(waits_for_events(), waits) << "a pinned buffer that was still being copied";
    EXPECT_EQ(after.allocations, before.allocations);
    EXPECT_GT(after.launches, before.launches);
    if (recorded) {
        const bool prepared = fixture.feed->indices_only() || precision.starts_with("amp");
        EXPECT_EQ(after.launches - before.launches, 4 * (1 + (prepared ? accumulate : 0)))
            << "one launch a step, and one for each batch that is prepared on the device, or "
               "rounded to the type that autocast takes";
    }
}

TEST_P(DeviceStep, NeverWaitsForTheDeviceNorAsksItForMemoryAfterTheFirstSteps) {
    HALFTONE_NEEDS_CUDA();
    const auto [model, precision] = GetParam();
    expect_no_waiting(model, precision, false);
    expect_no_waiting(model, precision, true);
}

TEST_P(DeviceStep, NeverWaitsWithEightBatchesAStep) {
    HALFTONE_NEEDS_CUDA();
    const auto [model, precision] = GetParam();
    expect_no_waiting(model, precision, false, 8);
    expect_no_waiting(model, precision, true, 8);
}

// The allowed difference comes from the order of f32 sums. The loss of a first step is a mean of 16
// sums of a few hundred products: a few hundred half units of f32. A 16-bit type rounds every
// activation once, and another order of its f32 sum can change that rounding by one unit.
double loss_tolerance(const std::string& precision) {
    if (precision == "fp32") return 256 * 0x1p-24;
    return precision == "amp-bf16" ? 0x1p-8 : 0x1p-11;
}

TEST_P(DeviceStep, ComputesTheLossAndTheGradientsOfTheCpu) {
    HALFTONE_NEEDS_CUDA();
    const auto [model, precision] = GetParam();
    const RunConfig config = small_run(model, precision);
    TrainerFixture host(config, Device{}), device(config, cuda);
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

TEST(DeviceStep, KeepsConvolutionWeightsChannelsLast) {
    HALFTONE_NEEDS_CUDA();
    const RunConfig config = small_run("lenet", "amp-fp16");
    TrainerFixture host(config, Device{}), device(config, cuda);
    const auto &expected = host.trainer.model().parameters(),
               &parameters = device.trainer.model().parameters();
    ASSERT_EQ(parameters.size(), expected.size());
    for (std::size_t i = 0; i < parameters.size(); ++i)
        EXPECT_EQ(parameters[i].tensor.values(), expected[i].tensor.values()) << parameters[i].name;
    device.step(0);
    int convolutions = 0;
    for (const auto& parameter : parameters) {
        if (parameter.tensor.rank() != 4) continue;
        EXPECT_TRUE(parameter.tensor.is_channels_last()) << parameter.name;
        ++convolutions;
    }
    EXPECT_EQ(convolutions, 2);
}

TEST_P(DeviceStep, TellsEveryStepOnceInOrderAndOneStepLate) {
    HALFTONE_NEEDS_CUDA();
    const auto [model, precision] = GetParam();
    RunConfig config = small_run(model, precision);
    config.batch_size = 2;  // the order does not depend on it
    TrainerFixture fixture(config, cuda);
    fixture.submit(0);
    EXPECT_FALSE(fixture.trainer.take(false).has_value());
    for (int i = 1; i < 5; ++i) {
        fixture.submit(i);
        EXPECT_EQ(fixture.trainer.take(false).value().row.step, i);
    }
    EXPECT_EQ(fixture.trainer.take(true).value().row.step, 5);
    EXPECT_FALSE(fixture.trainer.take(true).has_value());
}

INSTANTIATE_TEST_SUITE_P(Runs, DeviceStep,
                         testing::Values(std::pair{"mlp", "fp32"}, std::pair{"mlp", "amp-fp16"},
                                         std::pair{"mlp", "amp-bf16"},
                                         std::pair{"mlp", "pure-fp16"}, std::pair{"mlp", "o2-fp16"},
                                         std::pair{"lenet", "o2-fp16"}, std::pair{"lenet", "fp32"},
                                         std::pair{"lenet", "amp-fp16"},
                                         std::pair{"lenet", "amp-bf16"}),
                         [](const auto& run) {
                             std::string name =
                                 std::string(run.param.first) + "_" + run.param.second;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

std::vector<std::vector<double>> weights_of(Trainer& trainer) {
    std::vector<std::vector<double>> out;
    for (const auto& parameter : trainer.model().parameters())
        out.push_back(parameter.tensor.values());
    return out;
}

// The replayed steps include growths of the scale, skipped steps, a changing learning rate and a
// batch of another size.
TEST_P(DeviceStep, ReplaysTheStepAsAGraphWithTheNumbersOfEagerSteps) {
    HALFTONE_NEEDS_CUDA();
    const auto [model, precision] = GetParam();
    RunConfig config = small_run(model, precision);
    config.schedule.kind = "cosine";
    config.scaler.growth_interval = 1;
    config.scaler.init_scale = 0x1p18;
    config.batch_size = 4;
    TrainerFixture eager(config, cuda), recorded(config, cuda);
    eager.trainer.set_recording(false);
    int skipped = 0;
    for (int i = 0; i < 14; ++i) {
        StepRecord rows[2];
        for (const int which : {0, 1}) {
            TrainerFixture& fixture = which == 0 ? eager : recorded;
            fixture.batches.resize(1);
            fixture.collator.make(fixture.batches[0], 0, i);
            if (i == 8) test::truncate(fixture.batches[0], 3);
            rows[which] = fixture.trainer.step(fixture.batches, *fixture.feed).row;
        }
        ASSERT_EQ(rows[0].loss, rows[1].loss) << "step " << i;
        ASSERT_EQ(rows[0].loss_scale, rows[1].loss_scale) << "step " << i;
        ASSERT_EQ(rows[0].found_inf, rows[1].found_inf) << "step " << i;
        ASSERT_EQ(rows[0].growth_tracker, rows[1].growth_tracker) << "step " << i;
        ASSERT_EQ(rows[0].lr, rows[1].lr) << "step " << i;
        ASSERT_EQ(std::bit_cast<std::uint32_t>(rows[0].grad_norm),
                  std::bit_cast<std::uint32_t>(rows[1].grad_norm))
            << "step " << i;
        skipped += rows[1].found_inf;
    }
    EXPECT_EQ(eager.trainer.replayed_steps(), 0);
    EXPECT_EQ(recorded.trainer.replayed_steps(), 14 - 3 - 1);
    EXPECT_EQ(weights_of(eager.trainer), weights_of(recorded.trainer));
    if (precision == "amp-fp16") {
        EXPECT_GT(skipped, 1) << "or this shows too little";
    }
}

// The captured step's pictures have zeros behind their three channels; those of eager steps are
// dense, in f32, and are cast and padded for each convolution.
TEST(DeviceStep, ReplaysStepsOfColouredPicturesWithTheNumbersOfEagerSteps) {
    HALFTONE_NEEDS_CUDA();
    const test::FewPictures pictures(20);
    for (const std::string precision : {"amp-fp16", "amp-bf16"}) {
        SCOPED_TRACE(precision);
        RunConfig config = small_run("lenet", precision);
        config.dataset.kind = "cifar10";
        config.dataset.path = {pictures.path()};
        config.dataset.augment = true;
        config.batch_size = 2;
        TrainerFixture eager(config, cuda), recorded(config, cuda);
        eager.trainer.set_recording(false);
        for (int i = 0; i < 6; ++i)
            ASSERT_EQ(eager.step(i).row.loss, recorded.step(i).row.loss) << "step " << i;
        EXPECT_EQ(recorded.trainer.replayed_steps(), 6 - 3);
        EXPECT_EQ(weights_of(eager.trainer), weights_of(recorded.trainer));
    }
}

// The devices take turns, from a thread that computes for cuda:0. Each has its own streams, memory,
// plans and graph.
TEST_P(DeviceStep, HasTheSameBitsOnASecondGpuBesideTheFirst) {
    HALFTONE_NEEDS_CUDA();
    if (kernels::cuda::device_count() < 2) GTEST_SKIP() << "there are no two CUDA devices";
    const auto [model, precision] = GetParam();
    const Device second_cuda{Device::Kind::cuda, 1};
    RunConfig config = small_run(model, precision);
    config.accumulate = 2;
    config.batch_size = 4;
    TrainerFixture first(config, cuda), second(config, second_cuda);
    for (int i = 0; i < 6; ++i) {
        first.submit(i);
        second.submit(i);
        const auto expected = first.trainer.take(i == 5), row = second.trainer.take(i == 5);
        ASSERT_EQ(expected.has_value(), row.has_value());
        if (row) {
            EXPECT_EQ(row->row.loss, expected->row.loss) << "step " << i;
        }
    }
    EXPECT_EQ(second.trainer.replayed_steps(), 3);
    EXPECT_EQ(weights_of(first.trainer), weights_of(second.trainer));
    for (TrainerFixture* fixture : {&first, &second})
        fixture->trainer.evaluate(fixture->batches[0], *fixture->feed);
    EXPECT_EQ(first.trainer.take_evaluation().loss, second.trainer.take_evaluation().loss);
    for (const auto& parameter : second.trainer.model().parameters())
        EXPECT_EQ(parameter.tensor.device(), second_cuda);
    EXPECT_EQ(kernels::cuda::current_device(), 0);
}

TEST(DeviceStep, SkipsAnOverflowingStepAndMovesTheScaleWithoutTheHost) {
    HALFTONE_NEEDS_CUDA();
    RunConfig config = small_run("mlp", "amp-fp16");
    config.scaler.init_scale = 0x1p30;  // overflows in fp16
    TrainerFixture fixture(config, cuda);
    const auto weights = [&] { return fixture.trainer.model().parameters()[0].tensor.values(); };
    const auto before = weights();
    const CompletedStep skipped = fixture.step(0);
    EXPECT_EQ(skipped.row.found_inf, 1);
    EXPECT_EQ(skipped.row.updates, 0);
    EXPECT_EQ(skipped.row.loss_scale, 0x1p30f);
    EXPECT_EQ(skipped.next_loss_scale, 0x1p29);
    EXPECT_EQ(weights(), before) << "a skipped step writes nothing";
}

TEST(DeviceStep, FollowsTheScheduleOfAppliedUpdates) {
    HALFTONE_NEEDS_CUDA();
    RunConfig config = small_run("mlp", "amp-fp16");
    config.schedule.kind = "cosine";
    config.scaler.init_scale = 0x1p26;
    TrainerFixture host(config, Device{}), device(config, cuda);
    for (int i = 0; i < 12; ++i) {
        const StepRecord expected = host.step(i).row, row = device.step(i).row;
        ASSERT_EQ(row.updates, expected.updates) << "step " << i;
        ASSERT_EQ(row.lr, expected.lr);
        ASSERT_EQ(row.loss_scale, expected.loss_scale);
        ASSERT_EQ(row.growth_tracker, expected.growth_tracker);
    }
}

TEST(DeviceStep, ClipsAndAccumulatesAsTheCpuDoes) {
    HALFTONE_NEEDS_CUDA();
    for (const ClipKind clip : {ClipKind::norm, ClipKind::value}) {
        RunConfig config = small_run("mlp", "amp-fp16");
        config.accumulate = 2;
        config.clip.kind = clip;
        config.clip.value = 0.01;
        TrainerFixture host(config, Device{}), device(config, cuda);
        const auto step = [](TrainerFixture& fixture) {
            fixture.batches.resize(2);
            fixture.collator.make(fixture.batches[0], 0, 0);
            fixture.collator.make(fixture.batches[1], 0, 1);
            return fixture.trainer.step(fixture.batches, *fixture.feed).row;
        };
        const StepRecord expected = step(host), row = step(device);
        EXPECT_EQ(row.samples, 32);
        EXPECT_NEAR(row.loss, expected.loss, loss_tolerance("amp-fp16") * expected.loss);
        const auto a = host.trainer.model().parameters()[0].tensor.values();
        const auto b = device.trainer.model().parameters()[0].tensor.values();
        for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-5) << word_of(clip);
    }
}

TEST(DeviceStep, EvaluatesAsTheCpuDoes) {
    HALFTONE_NEEDS_CUDA();
    const RunConfig config = small_run("lenet", "fp32");
    TrainerFixture host(config, Device{}), device(config, cuda);
    for (TrainerFixture* fixture : {&host, &device}) {
        for (int i = 0; i < 3; ++i) {
            fixture->batches.resize(1);
            fixture->collator.make(fixture->batches[0], 0, i);
            fixture->trainer.evaluate(fixture->batches[0], *fixture->feed);
        }
    }
    const MetricSums expected = host.trainer.take_evaluation(),
                     sums = device.trainer.take_evaluation();
    const double loss = expected.loss / expected.weight;
    EXPECT_EQ(sums.weight, 48);
    EXPECT_EQ(sums.values[0], expected.values[0]) << "samples that are right";
    EXPECT_NEAR(sums.loss / sums.weight, loss, loss_tolerance("fp32") * (1 + loss));
    EXPECT_EQ(device.trainer.take_evaluation().weight, 0);
}

}  // namespace
}  // namespace engine
