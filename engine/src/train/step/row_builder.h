#pragma once

#include <deque>
#include <limits>
#include <optional>
#include <vector>

#include "amp/recipe.h"
#include "engine/base/error.h"
#include "engine/record/step_record.h"
#include "kernels/step_ends.h"
#include "parallel/exchange_line.h"
#include "tasks/task.h"
#include "tensor/device_record.h"
#include "train/step/step_marks.h"

namespace engine {

/// The trainer's figures of a step that was submitted, on the host.
struct SubmittedStep {
    std::int64_t step, samples, memory_bytes, peak_bytes;
    float scale_floor = std::numeric_limits<float>::quiet_NaN();  ///< as the observers have it
    ExchangeTimer exchange{};                                     ///< none in one process
    std::optional<StepCasts> casts{};                             ///< none without a recipe
    float kept_share = std::numeric_limits<float>::quiet_NaN();   ///< of the recipe's layers
};

/// Where a step begins, and the multiplier that evaluations have given its learning rate.
struct StepStart {
    std::int64_t epoch = 0;
    std::int64_t batch = 0;
    double rate_multiplier = 1;
};

/// Figures of the machine at the end of a step; NaN: not measured (run/machine_meter.h).
struct MachineFigures {
    static constexpr float unknown = std::numeric_limits<float>::quiet_NaN();
    float card_load = unknown, card_celsius = unknown, card_watts = unknown;
    double card_memory_bytes = unknown, card_joules = unknown, cpu_joules = unknown;
};

/// The run loop's figures of a step.
struct LoopFigures {
    StepStart start;
    std::int64_t epoch, samples;  ///< completed epochs; samples of this step
    double data_s, step_s, elapsed_s, clock_s;
    std::int64_t peak_before = 0;  ///< of the parts of a run that goes on
    MachineFigures machine{};
};

/// How to read a run's figures, by its settings.
struct RowOptions {
    bool scaled = false;             ///< the loss is scaled
    bool may_skip = false;           ///< steps with gradients that are not finite are skipped
    bool watched_f16 = false;        ///< f16 gradients of the backward pass were looked at
    std::int64_t updates_apart = 0;  ///< added to the optimizer's count of updates
};

/// A completed step by its figures, and the scale of the next step (1 without a scaler).
struct CompletedStep {
    StepRecord row;
    kernels::MetricSums sums{};
    double next_loss_scale = 1;
    std::int64_t state_resets = 0;  ///< streams whose carried state was not finite
    std::optional<Error> refused;   ///< a value of the step, found on a GPU: the run is to end
    StepStart start{};              ///< by RowBuilder::complete()
};

/// Columns of the record that the task's metrics take beside accuracy.
std::size_t metric_column_count(const Task& task);

/// Fills every column of the record, from the figures of the host, the device and the run loop.
/// Holds the steps in flight, oldest first. The end of a step, which may be captured, puts its
/// figures into host memory (kernels/step_ends.h). On the CPU they are there at once. On a GPU the
/// host reads them after it has submitted the next step, so that the device is never idle.
class RowBuilder {
public:
    /// The task must outlive it, and is asked for its descriptors once.
    RowBuilder(const Device& device, const Task& task);
    ~RowBuilder();
    RowBuilder(const RowBuilder&) = delete;
    RowBuilder& operator=(const RowBuilder&) = delete;

    /// For the end of each step; the same as long as the builder lives.
    const kernels::FigureSlots& slots() const { return slots_; }
    /// A step begins, which gathers its figures in `figures`. Returns its marks, none of which is
    /// made.
    StepMarks& begin(const DeviceRecord<kernels::StepFigures>& figures);
    /// The step that began was submitted, and its last mark was made behind its end.
    void push(SubmittedStep step);
    /// The oldest step, if one more than may be in flight was pushed, or if `all`. Waits until its
    /// figures are there, without a call that waits for the device. Its row lacks the columns of
    /// complete().
    std::optional<CompletedStep> take(bool all, const RowOptions& options);
    /// Fills the columns that the run loop alone knows.
    static void complete(CompletedStep& step, const LoopFigures& loop);

private:
    static std::size_t slot_of(std::int64_t step);
    /// Steps that may stay in flight while the next one is submitted: 0 on the CPU.
    std::size_t depth() const { return device_.kind == Device::Kind::cpu ? 0 : 1; }
    void fill_metrics(StepRecord& row, const kernels::StepFigures& figures) const;

    Device device_;
    const Task& task_;
    std::vector<float StepRecord::*> columns_;  // metrics, then updates
    std::size_t metrics_ = 0;                   // how many are metrics
    kernels::FigureSlots slots_;
    std::vector<StepMarks> marks_;  // by slot
    std::int64_t pushed_ = 0;
    bool begun_ = false;  // a step that was not pushed
    std::deque<SubmittedStep> in_flight_;
};

}  // namespace engine
