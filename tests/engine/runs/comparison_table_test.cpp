#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <sstream>

#include "engine/runs/comparison.h"
#include "engine/settings/catalog.h"
#include "record/step_record.h"
#include "support/part_figures.h"
#include "temp_folder.h"

namespace engine {
namespace {

using testing::HasSubstr;

/// A run of `steps` steps that took `seconds` in total.
FinishedRun finished_run(const std::filesystem::path& folder, std::int64_t steps, double seconds) {
    std::filesystem::create_directories(folder);
    auto writer = StepRecordWriter::create(folder);
    for (std::int64_t i = 1; i <= steps; ++i) {
        StepRecord row{};
        row.step = i;
        row.elapsed_s = seconds * static_cast<double>(i) / static_cast<double>(steps);
        row.step_ms = static_cast<float>(seconds * 1e3 / static_cast<double>(steps));
        row.samples = 64 * i;
        row.peak_bytes = 5'000'000;
        writer.append(row);
    }
    FinishedRun run;
    run.record = writer.reader();
    run.done.updates = steps - 1;
    run.done.skipped = 1;
    run.growths = 2;
    run.tests = {{4, classified(0.9, 0.7)}, {8, classified(0.5, 0.84)}, {10, classified(0.6, 0.82)}};
    return run;
}

TEST(Comparison, KeepsTheChosenScalingInPrecisionsThatScaleTheLoss) {
    RunConfig config;
    config.precision.preset = "fp32";
    config.precision.scaler = ScalerMode::constant;
    for (const auto& [preset, scaler] :
         std::map<std::string, std::optional<ScalerMode>>{{"fp32", std::nullopt},
                                                          {"amp-bf16", std::nullopt},
                                                          {"amp-fp16", ScalerMode::constant},
                                                          {"o2-fp16", ScalerMode::constant}}) {
        const PrecisionConfig precision = in_precision(config, preset).precision;
        EXPECT_EQ(precision.preset, preset);
        EXPECT_EQ(precision.scaler, scaler) << preset;
    }
    // That FP32 has none says nothing about other precisions.
    config.precision.scaler = ScalerMode::off;
    EXPECT_EQ(in_precision(config, "amp-fp16").precision.scaler, std::nullopt);
    config.precision.preset = "amp-fp16";
    EXPECT_EQ(in_precision(config, "amp-fp16").precision.scaler, ScalerMode::off);
    EXPECT_EQ(in_precision(config, "fp17").precision.preset, "fp17");
}

TEST(Comparison, NamesTheOverridesThatNoneOfItsPrecisionsKeeps) {
    const std::vector<std::string> scaled = {"fp32", "amp-fp16"}, unscaled = {"fp32", "amp-bf16"};
    RunConfig config;
    EXPECT_TRUE(overrides_left_out(config, scaled).empty());
    config.precision.scaler = ScalerMode::constant;
    EXPECT_TRUE(overrides_left_out(config, scaled).empty());
    EXPECT_EQ(overrides_left_out(config, unscaled), std::vector<std::string>{"precision.scaler"});
    config.precision.scaler = ScalerMode::dynamic;  // as the preset says
    EXPECT_TRUE(overrides_left_out(config, unscaled).empty());
    config.precision.weights = WeightFormat::fp16;
    config.precision.autocast = AutocastFormat::bf16;
    config.precision.batch_norm = WeightFormat::fp16;
    config.precision.master_weights = true;
    config.precision.force["fc1"] = ForcedType::fp32;
    EXPECT_EQ(overrides_left_out(config, scaled),
              (std::vector<std::string>{"precision.weights", "precision.autocast",
                                        "precision.batch_norm", "precision.master_weights",
                                        "precision.force"}));
}

TEST(Comparison, TakesBestAndLastAndTheSpeedUpOverTheFirst) {
    test_support::TempFolder dir;
    const auto rows = compare_runs({{"fp32", {finished_run(dir / "a", 10, 0.04)}},
                                    {"amp-fp16", {finished_run(dir / "b", 10, 0.02)}}});
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].best_test_loss.mean, 0.5);
    EXPECT_EQ(rows[0].last_test_loss.mean, 0.6);
    EXPECT_EQ(rows[0].best_test_metric.mean, 0.84);
    EXPECT_EQ(rows[0].last_test_metric.mean, 0.82);
    EXPECT_DOUBLE_EQ(rows[0].step_ms.mean, 4);
    EXPECT_EQ(rows[0].peak_bytes, 5e6);
    EXPECT_DOUBLE_EQ(rows[0].speed_up, 1);
    EXPECT_DOUBLE_EQ(rows[1].speed_up, 2);
    EXPECT_EQ(rows[1].updates, 9);
}

TEST(Comparison, OfAMetricThatIsBetterLowTheLowestIsTheBest) {
    const Metric rmse{.key = "rmse", .title = "RMSE", .higher_is_better = false};
    FinishedRun run;
    for (const double value : {7.0, 3.0, std::numeric_limits<double>::quiet_NaN(), 4.0})
        run.tests.push_back({1, {0.5, {{"rmse", value}, {"r2", 1 - value}}}});
    const auto rows = compare_runs({{.precision = "fp32", .runs = {run}, .metric = rmse}});
    EXPECT_EQ(rows[0].metric, rmse);
    EXPECT_EQ(rows[0].best_test_metric.mean, 3);
    EXPECT_EQ(rows[0].last_test_metric.mean, 4);
    const std::string table = comparison_table(rows);
    EXPECT_THAT(table, HasSubstr("best rmse"));
    EXPECT_THAT(table, HasSubstr("last rmse"));
    EXPECT_THAT(table, testing::Not(HasSubstr("accuracy")));
}

TEST(Comparison, OfATaskWithoutAMetricTheLossIsLeft) {
    FinishedRun run;
    run.tests = {{1, {0.5, {}}}};
    const auto rows = compare_runs({{.precision = "fp32", .runs = {run}, .metric = {}}});
    EXPECT_EQ(rows[0].best_test_loss.mean, 0.5);
    EXPECT_TRUE(std::isnan(rows[0].best_test_metric.mean));
    EXPECT_THAT(comparison_table(rows), HasSubstr("best metric"));
}

TEST(Comparison, APauseOfTheMachineDoesNotCountAgainstAPrecision) {
    test_support::TempFolder dir;
    std::filesystem::create_directories(dir / "a");
    auto writer = StepRecordWriter::create(dir / "a");
    for (std::int64_t i = 1; i <= 40; ++i) {
        StepRecord row{};
        row.step = i;
        row.step_ms = i == 30 ? 60000 : 2;
        row.elapsed_s = (i >= 30 ? 60 : 0) + 0.002 * static_cast<double>(i);
        writer.append(row);
    }
    FinishedRun run;
    run.record = writer.reader();
    const auto row = compare_runs({{"fp32", {run}}})[0];
    EXPECT_EQ(row.speed.step_ms, 2);  // what the speed-up is made of
    EXPECT_NEAR(row.step_ms.mean, 60.08e3 / 40, 1e-6);  // the run's own time has it
}

TEST(Comparison, SeedsGiveAMeanAndTheSpreadOfASample) {
    const auto two = mean_and_spread({1, 3});
    EXPECT_EQ(two.mean, 2);
    EXPECT_DOUBLE_EQ(two.spread, std::sqrt(2.0));
    EXPECT_EQ(mean_and_spread({5}).spread, 0);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(mean_and_spread({nan, 4}).mean, 4);
    EXPECT_TRUE(std::isnan(mean_and_spread({nan}).mean));
}

TEST(Comparison, TheTableHasALineAPrecisionAndItsColumnsAlign) {
    test_support::TempFolder dir;
    auto second_seed = finished_run(dir / "c", 10, 0.02);
    second_seed.tests.back().figures.loss = 0.8;
    const std::string table = comparison_table(compare_runs(
        {{"fp32", {finished_run(dir / "a", 10, 0.04), finished_run(dir / "b", 10, 0.04)}},
         {"amp-fp16", {second_seed, finished_run(dir / "d", 10, 0.02)}}}));
    std::istringstream lines(table);
    std::vector<std::size_t> widths;
    for (std::string line; std::getline(lines, line);) {
        std::size_t width = 0;
        for (const char c : line) width += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
        widths.push_back(width);
    }
    ASSERT_EQ(widths.size(), 3u);
    EXPECT_EQ(widths[0], widths[1]);
    EXPECT_EQ(widths[1], widths[2]);
    EXPECT_THAT(table, HasSubstr("0.7000 ±0.1414"));
    EXPECT_THAT(table, HasSubstr("2.00x"));
    EXPECT_THAT(table, HasSubstr("5.00 MB"));
}

TEST(Comparison, TheTableMarksAPrecisionWhoseRunsDiverged) {
    FinishedRun ended, diverged;
    diverged.done.reason = DoneReason::diverged;
    const std::string table = comparison_table(compare_runs(
        {{"fp32", {ended, ended}}, {"o2-fp16", {ended, diverged}}, {"pure-fp16", {diverged}}}));
    EXPECT_THAT(table, HasSubstr("fp32 "));
    EXPECT_THAT(table, HasSubstr("o2-fp16 (1 of 2 diverged)"));
    EXPECT_THAT(table, HasSubstr("pure-fp16 (diverged)"));
}

TEST(Comparison, WhatIsNotKnownIsADash) {
    FinishedRun nothing;
    nothing.done.samples_per_s = std::numeric_limits<double>::quiet_NaN();
    const auto rows = compare_runs({{"fp32", {nothing}}});
    EXPECT_TRUE(std::isnan(rows[0].speed_up));
    EXPECT_THAT(comparison_table(rows), HasSubstr("  -  "));
    EXPECT_THAT(comparison_table(rows), testing::Not(HasSubstr("nan")));
}

TEST(Comparison, SpeedsAreInTheUnitOfTheDataSet) {
    RunConfig config;
    config.dataset.kind = "csv";
    EXPECT_THAT(comparison_table({}, speed_unit(config)), HasSubstr(" rows/s "));
    config.dataset.kind = "spirals";
    EXPECT_THAT(comparison_table({}, speed_unit(config)), HasSubstr(" samples/s "));
}

}  // namespace
}  // namespace engine
