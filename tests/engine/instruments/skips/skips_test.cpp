#include "engine/instruments/skips.h"

#include <cmath>
#include <fstream>

#include "engine/base/error.h"
#include "resume_support.h"
#include "support/device_support.h"

namespace engine {
namespace {

using test::Ended;
using test::small_run;
using testing::ElementsAre;
using testing::IsEmpty;

class SkipsTest : public test::ResumedRuns {
protected:
    /// A run whose first steps are skipped.
    Ended skipping_run() {
        RunConfig config = small_run("lenet", "amp-fp16");
        config.dataset.train_limit = 16 * 6;
        config.dataset.test_limit = 32;
        config.scaler.init_scale = 0x1p24;
        config.max_steps = 9;
        config.epochs = 2;
        return train(config);
    }
    static std::vector<std::int64_t> skipped_by_record(const Ended& run) {
        std::vector<std::int64_t> out;
        for (std::int64_t i = 0; i < run.record.size(); ++i) {
            if (run.record.row(i).found_inf != 0) out.push_back(i + 1);
        }
        return out;
    }
};

TEST_F(SkipsTest, ListsTheSkippedStepsOfARun) {
    const Ended run = skipping_run();
    const SkipList skips = list_skips(run.folder);
    std::vector<std::int64_t> steps;
    for (const SkippedStep& each : skips.list) steps.push_back(each.step);
    EXPECT_EQ(steps, skipped_by_record(run));
    ASSERT_GT(steps.size(), 2U);
    EXPECT_EQ(skips.steps, 9);
    EXPECT_EQ(skips.clean_steps, 9 - steps.back());
    EXPECT_EQ(skips.list.front().loss_scale, 0x1p24);
    EXPECT_FALSE(skips.list.front().report);
}

TEST_F(SkipsTest, AnExaminationIsKeptInTheRunsFolder) {
    const Ended run = skipping_run();
    const SkipReport report = examine_skip(run.folder, 2);
    EXPECT_EQ(report.run, run.run);
    EXPECT_EQ(report.step, 2);
    EXPECT_EQ(report.cause, SkipCause::scale_too_large);
    EXPECT_EQ(report.loss, static_cast<double>(run.record.row(1).loss));
    EXPECT_EQ(report.loss_scale, static_cast<double>(run.record.row(1).loss_scale));
    const SkipList skips = list_skips(run.folder);
    ASSERT_TRUE(skips.list[1].report);
    EXPECT_EQ(to_json_line(*skips.list[1].report), to_json_line(report));
    EXPECT_FALSE(skips.list[0].report);
}

TEST_F(SkipsTest, ADamagedReportIsAsNone) {
    const Ended run = skipping_run();
    std::filesystem::create_directory(run.folder / "skips");
    std::ofstream(run.folder / "skips" / "1.json") << "{\"step\":1";
    std::ofstream(run.folder / "skips" / "2.json") << "{\"step\":2,\"run\":[]}";
    for (const SkippedStep& each : list_skips(run.folder).list) EXPECT_FALSE(each.report);
}

TEST_F(SkipsTest, TheStepBecomesFiniteAtASmallerScaleAndInFP32) {
    const Ended run = skipping_run();
    RetryChange change;
    EXPECT_FALSE(retry_step(run.folder, 1, change).passes);
    change.scale = 1024;
    const StepTrial scaled = retry_step(run.folder, 1, change);
    EXPECT_TRUE(scaled.passes);
    EXPECT_EQ(scaled.scale, 1024);
    change.scale.reset();
    change.fp32 = true;
    const StepTrial fp32 = retry_step(run.folder, 1, change);
    EXPECT_TRUE(fp32.passes);
    EXPECT_EQ(fp32.scale, 1);
    EXPECT_NEAR(fp32.grad_norm, scaled.grad_norm, 0.01 * fp32.grad_norm);
    change.without = 1 << 30;
    EXPECT_THROW(retry_step(run.folder, 1, change), Error);
}

TEST_F(SkipsTest, SamplesThatComeUpInSeveralSkipsRecur) {
    SkipReport report;
    report.samples = {{.sample = 7}, {.sample = 3}};
    const Ended run = skipping_run();
    std::filesystem::create_directory(run.folder / "skips");
    for (const std::int64_t step : {1, 2}) {
        report.step = step;
        if (step == 2) report.samples = {{.sample = 9}, {.sample = 7}};
        std::ofstream(run.folder / "skips" / (std::to_string(step) + ".json"))
            << to_json_line(report);
    }
    const SkipList skips = list_skips(run.folder);
    ASSERT_EQ(skips.recurring.size(), 1U);
    EXPECT_EQ(skips.recurring.front().sample, 7);
    EXPECT_THAT(skips.recurring.front().steps, ElementsAre(1, 2));
}

/// Four samples are in all three skipped batches of four, out of 96 samples.
TEST_F(SkipsTest, SamplesThatAreInMoreBatchesThanByChanceRecur) {
    const Ended run = skipping_run();
    const auto skipped = skipped_by_record(run);
    ASSERT_GT(skipped.size(), 3U);
    EXPECT_THAT(list_skips(run.folder).recurring, IsEmpty()) << "twice is no rarity";
    std::ofstream batches(run.folder / "skips" / "batches.jsonl");
    for (std::size_t i = 0; i < 3; ++i) {
        batches << "{\"step\":" << skipped[i] << ",\"samples\":[11," << 20 + i << ',' << 30 + i
                << ',' << 40 + i % 2 << "]}\n";
    }
    batches << "{\"step\":" << 10'000 << ",\"samples\":[20]}\n";  // not a step of the run
    batches.close();
    const SkipList skips = list_skips(run.folder);
    ASSERT_EQ(skips.recurring.size(), 1U) << "two of three is no rarity among 96 samples";
    EXPECT_EQ(skips.recurring.front().sample, 11);
    EXPECT_THAT(skips.recurring.front().steps, ElementsAre(skipped[0], skipped[1], skipped[2]));
    // A chance of (4 / 96)^3 for each of 96 samples.
    EXPECT_NEAR(skips.recurring.front().chance, 96 * std::pow(4.0 / 96, 3), 1e-9);
}

/// With a static scale no step is skipped: infinite gradients reach the weights, and the next steps
/// start from damaged weights.
TEST_F(SkipsTest, DamageIsTracedToTheStepThatMadeIt) {
    RunConfig config = small_run("mlp", "pure-fp16");
    config.precision.scaler = ScalerMode::constant;
    config.scaler.init_scale = 0x1p40;  // the gradients of the first step are infinite
    config.dataset.train_limit = 64;
    config.dataset.test_limit = 32;
    config.max_steps = 3;
    const Ended run = train(config);
    const SkipList skips = list_skips(run.folder);
    ASSERT_EQ(skips.list.size(), 3U);
    EXPECT_FALSE(skips.list.front().skipped);
    EXPECT_NE(examine_skip(run.folder, 1).cause, SkipCause::damaged_state);
    const SkipReport third = examine_skip(run.folder, 3);
    EXPECT_EQ(third.cause, SkipCause::damaged_state);
    EXPECT_EQ(third.damaged_at, 1);
    EXPECT_EQ(first_bad_step(skips), 0U);
}

/// The learning rate drives the forward pass out of range. The page says what the error that ends
/// the run says, and no scale is offered.
TEST_F(SkipsTest, AForwardFaultHasTheAdviceOfTheRunsErrorAndNoScale) {
    RunConfig config = small_run("mlp", "amp-fp16");
    config.optimizer.options["lr"] = 1e6;
    config.stop_on_nan = 3;
    config.max_steps = 40;
    const Ended run = train(config);
    const auto failed = run.all<RunFailed>();
    ASSERT_EQ(failed.size(), 1U);
    const SkipList skips = list_skips(run.folder);
    const auto bad = first_bad_step(skips);
    ASSERT_TRUE(bad);
    const SkipReport report = examine_skip(run.folder, skips.list[*bad].step);
    EXPECT_TRUE(std::isnan(report.scale_bound)) << report.scale_bound;
    EXPECT_EQ(report.advice.str(), failed.front().hint.str())
        << name(report.cause);
}

TEST_F(SkipsTest, ARunWithoutSkipsHasAnEmptyList) {
    RunConfig config = small_run("mlp", "fp32");
    config.max_steps = 4;
    const Ended run = train(config);
    const SkipList skips = list_skips(run.folder);
    EXPECT_THAT(skips.list, IsEmpty());
    EXPECT_EQ(skips.clean_steps, 4);
    EXPECT_THROW(examine_skip(run.folder, 9), Error);
}

}  // namespace
}  // namespace engine
