#include "train/step/row_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/cuda_graph.h"
#include "needs_cuda.h"
#include "step_support.h"
#include "tasks/task_descriptor.h"

namespace engine {
namespace {

using test::cuda;

/// Figures of a step with valid sums for every task: 8 samples, loss 0.75, 6 correct.
kernels::StepFigures figures_of_a_step() {
    kernels::StepFigures figures{};
    figures.sums.weight = 8;
    figures.sums.loss = 6;
    figures.sums.values[0] = 6;
    figures.gradient_statistics.sum_squares = 9;
    figures.gradient_statistics.abs_max = 2;
    figures.gradient_statistics.total = 10;
    figures.gradient_statistics.nonzero = 5;
    figures.updates = 7;
    figures.further_updates[0] = 5;
    figures.loss_scale = 4;
    figures.next_loss_scale = 2;
    figures.lr = 0.125F;
    figures.growth_tracker = 3;
    return figures;
}

SubmittedStep numbered(std::int64_t step) {
    return {.step = step, .samples = 8 * step, .memory_bytes = 100, .peak_bytes = 300};
}

/// Steps of a device, as far as their figures go.
struct Steps {
    Steps(const Device& device_, const Task& task)
        : device(device_),
          rows(device, task),
          record(device),
          number(Tensor::zeros({}, DType::i64, device)) {
        record.clear();
    }
    /// Gathers the figures of a step: how many there have been is the count of updates.
    void end() const {
        kernels::StepEnding ending;
        ending.number = counter();
        ending.after.updates[0] = counter();
        finish(ending);
    }
    /// A step with these figures, the first.
    void only(const kernels::StepFigures& figures, std::int64_t step) {
        StepMarks& marks = rows.begin(record);
        marks.mark();
        record.set(figures);
        finish({});
        marks.mark();
        rows.push(numbered(step));
    }
    /// A step, eager or the replay of end().
    void next(std::int64_t step, kernels::cuda::Graph* graph = nullptr) {
        StepMarks& marks = rows.begin(record);
        if (graph) {
            graph->launch(current_stream(), marks.next_event());
        } else {
            marks.mark();
            end();
            marks.mark();
        }
        rows.push(numbered(step));
    }

    Device device;
    RowBuilder rows;
    DeviceRecord<kernels::StepFigures> record;
    Tensor number;

private:
    std::int64_t* counter() const { return number.data_as<std::int64_t>(); }
    void finish(kernels::StepEnding ending) const {
        ending.slots = rows.slots();
        on(device, kernels::cpu::end_step, kernels::cuda::end_step)(record.data(), ending,
                                                                    current_stream());
    }
};

/// The record's row for a step of this task.
StepRecord row_of(const Task& task, const kernels::StepFigures& figures,
                  const RowOptions& options = {}) {
    Steps steps(default_device(), task);
    steps.only(figures, 1);
    return steps.rows.take(/*all=*/true, options).value().row;
}

std::unique_ptr<Task> classification() {
    return make_task(test::small_run("mlp", "fp32"),
                     classified_features({{0, 0}, {1, 1}}, {"a", "b"}));
}

/// An MLP that predicts a number whose standard deviation in the data is 4.
std::unique_ptr<Task> regression() {
    Schema schema;
    schema.add({.name = "features",
                .kind = FieldKind::features,
                .shape = {2},
                .normalization = {{0, 0}, {1, 1}}});
    schema.add(
        {.name = "target", .kind = FieldKind::value, .shape = {1}, .normalization = {{10}, {4}}});
    return make_task(test::small_run("mlp", "fp32"), schema);
}

TEST(RowBuilder, AccuracyHasTheColumnOfThatName) {
    const StepRecord row = row_of(*classification(), figures_of_a_step());
    EXPECT_EQ(row.loss, 0.75F);
    EXPECT_EQ(row.accuracy, 0.75F);
    for (const auto column : metric_columns) EXPECT_TRUE(std::isnan(row.*column));
}

TEST(RowBuilder, OtherMetricsHaveColumnsOfTheirOwn) {
    kernels::StepFigures figures = figures_of_a_step();
    figures.sums.values[0] = 2;   // squared errors
    figures.sums.values[1] = 0;   // targets
    figures.sums.values[2] = 32;  // squared targets
    const StepRecord row = row_of(*regression(), figures);
    EXPECT_TRUE(std::isnan(row.accuracy));
    EXPECT_EQ(row.metric_1, 2) << "4 * sqrt(2 / 8): in the target's units";
    EXPECT_EQ(row.metric_2, 1 - 2.0F / 32);
    EXPECT_TRUE(std::isnan(row.metric_3));
}

TEST(RowBuilder, UpdatesOfFurtherOptimizersCountAmongTheMetrics) {
    const test::Adversaries task;
    const std::vector<Metric> metrics = task.step_metrics();
    ASSERT_EQ(metrics.size(), 1u);
    EXPECT_EQ(metrics[0].key, "updates_generator");
    const StepRecord row = row_of(task, figures_of_a_step());
    EXPECT_EQ(row.updates, 7) << "of the first optimizer";
    EXPECT_EQ(row.metric_1, 5);
    EXPECT_TRUE(std::isnan(row.accuracy));
    EXPECT_TRUE(std::isnan(row.metric_2));
}

/// Counts how often its descriptors are requested. Has all metrics that a record can hold: the
/// eight columns, and accuracy in addition.
class AskedTask final : public test::PairTask {
public:
    AskedTask() : PairTask({}) {}
    TensorList losses(TaskStep&) override { return {}; }
    std::vector<std::string> optimizer_names() const override {
        ++asked;
        return {""};
    }
    std::vector<Metric> metrics() const override {
        ++asked;
        std::vector<Metric> out;
        for (std::size_t i = 0; i < max_metrics; ++i) out.push_back({"m" + std::to_string(i), ""});
        out.push_back({"accuracy", ""});
        return out;
    }
    void derive(const MetricSums& sums, std::span<double> values) const override {
        for (std::size_t i = 0; i <= max_metrics; ++i)
            values[i] = sums.loss + static_cast<double>(i);
    }

    mutable int asked = 0;
};

TEST(RowBuilder, ATaskIsAskedForItsDescriptorsOncePerRun) {
    const AskedTask task;
    Steps steps(default_device(), task);
    const int before = task.asked;
    for (int step = 1; step <= 3; ++step) {
        kernels::StepFigures figures{};
        figures.sums.loss = step;
        figures.ended = step - 1;
        steps.only(figures, step);
        const StepRecord row = steps.rows.take(/*all=*/true, {}).value().row;
        for (std::size_t i = 0; i < max_metrics; ++i)
            EXPECT_EQ(row.*metric_columns[i], static_cast<float>(step) + static_cast<float>(i));
        EXPECT_EQ(row.accuracy, static_cast<float>(step + static_cast<int>(max_metrics)));
    }
    EXPECT_EQ(task.asked, before);
}

TEST(RowBuilder, ScaleAndSkipsAreThoseOfTheSettings) {
    kernels::StepFigures figures = figures_of_a_step();
    figures.gradient_statistics.found_inf = 1;
    const auto task = classification();
    const StepRecord plain = row_of(*task, figures);
    EXPECT_EQ(plain.loss_scale, 1);
    EXPECT_EQ(plain.found_inf, 0) << "without a scaler the update was applied";
    EXPECT_EQ(plain.grad_norm, 3);
    const StepRecord scaled = row_of(*task, figures, {.scaled = true, .may_skip = true});
    EXPECT_EQ(scaled.loss_scale, 4);
    EXPECT_EQ(scaled.found_inf, 1);
    EXPECT_EQ(scaled.grad_norm, 0.75F) << "unscaled";
    EXPECT_EQ(scaled.grad_max, 0.5F);
    EXPECT_EQ(scaled.growth_tracker, 3);
    EXPECT_EQ(scaled.lr, 0.125F);
    EXPECT_EQ(scaled.grad_zero_share, 0.5F);
}

TEST(RowBuilder, WhatIsNoColumnComesBesideTheRow) {
    kernels::StepFigures figures = figures_of_a_step();
    figures.state_resets = 3;
    const auto task = classification();
    for (const bool scaled : {false, true}) {
        Steps steps(Device{}, *task);
        steps.only(figures, 9);
        const CompletedStep step = steps.rows.take(false, {.scaled = scaled}).value();
        EXPECT_EQ(step.state_resets, 3);
        EXPECT_EQ(step.next_loss_scale, scaled ? 2 : 1);
        EXPECT_EQ(step.sums.values[0], 6);
        EXPECT_FALSE(step.refused.has_value());
        EXPECT_FALSE(steps.rows.take(true, {}).has_value());
    }
}

TEST(RowBuilder, TheHostsColumnsAreThoseOfTheSubmittedStep) {
    const auto task = classification();
    Steps steps(Device{}, *task);
    StepMarks& marks = steps.rows.begin(steps.record);
    marks.mark();
    SubmittedStep submitted = numbered(9);
    submitted.scale_floor = 16;
    submitted.exchange = [] { return ExchangeTimes{.total_ms = 4, .hidden_ms = 3}; };
    steps.end();
    marks.mark();
    steps.rows.push(submitted);
    const StepRecord row = steps.rows.take(true, {.updates_apart = 5}).value().row;
    EXPECT_EQ(row.step, 9);
    EXPECT_EQ(row.samples, 72);
    EXPECT_EQ(row.memory_bytes, 100);
    EXPECT_EQ(row.peak_bytes, 300);
    EXPECT_EQ(row.scale_floor, 16);
    EXPECT_EQ(row.exchange_ms, 4);
    EXPECT_EQ(row.exchange_hidden_share, 0.75F);
    EXPECT_EQ(row.updates, 1 + 5);
}

TEST(RowBuilder, TheLoopsColumnsAreItsClocksAndTheHighestPeak) {
    CompletedStep step{};
    const StepRecord& row = step.row;
    step.row.peak_bytes = 300;
    const LoopFigures loop{.start = {.epoch = 1, .batch = 7},
                           .epoch = 2,
                           .samples = 8,
                           .data_s = 0.125,
                           .step_s = 0.5,
                           .elapsed_s = 3,
                           .clock_s = 1000,
                           .peak_before = 400};
    RowBuilder::complete(step, loop);
    EXPECT_EQ(step.start.batch, 7);
    EXPECT_EQ(row.epoch, 2);
    EXPECT_EQ(row.data_ms, 125);
    EXPECT_EQ(row.step_ms, 500);
    EXPECT_EQ(row.samples_per_s, 16);
    EXPECT_EQ(row.elapsed_s, 3);
    EXPECT_EQ(row.clock_s, 1000);
    EXPECT_EQ(row.peak_bytes, 400);
}

// The figures of each step leave the device by its last kernel, captured or not, while those of the
// step before are still unread.
TEST(RowBuilder, OfADeviceComeOneStepLateAndInOrder) {
    HALFTONE_NEEDS_CUDA();
    const auto task = classification();
    Steps steps(cuda, *task);
    kernels::cuda::begin_capture(current_stream());
    steps.end();
    const auto graph = kernels::cuda::end_capture(current_stream());
    EXPECT_EQ(graph->nodes(), 1) << "no copy";
    const auto is_eager = [](std::int64_t step) { return step == 1 || step == 4 || step == 5; };
    const std::int64_t waits = kernels::cuda::call_counts().synchronizations;
    constexpr std::int64_t count = 8;
    for (std::int64_t step = 1; step <= count; ++step) {
        steps.next(step, is_eager(step) ? nullptr : graph.get());
        const auto taken = steps.rows.take(/*all=*/false, {});
        ASSERT_EQ(taken.has_value(), step > 1);
        if (!taken) continue;
        EXPECT_EQ(taken->row.step, step - 1);
        EXPECT_EQ(taken->row.updates, step - 1);
        EXPECT_EQ(std::isnan(taken->row.step_ms), !is_eager(step - 1)) << step;
    }
    EXPECT_EQ(steps.rows.take(true, {}).value().row.updates, count);
    EXPECT_EQ(kernels::cuda::call_counts().synchronizations, waits);
}

TEST(RowBuilder, OfTheStepAfterOneThatFailedBehindItsEndAreItsOwn) {
    const auto task = classification();
    Steps steps(default_device(), *task);
    std::vector<std::int64_t> updates;
    const auto take = [&](bool all) {
        while (const auto taken = steps.rows.take(all, {}))
            updates.push_back(taken->row.updates);
    };
    steps.next(1);
    take(false);
    (void)steps.rows.begin(steps.record);
    steps.end();  // and never pushed
    for (const std::int64_t step : {2, 3}) {
        steps.next(step);
        take(false);
    }
    take(true);
    EXPECT_THAT(updates, testing::ElementsAre(1, 3, 4));
}

}  // namespace
}  // namespace engine
