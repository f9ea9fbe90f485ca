#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/error.h"
#include "engine/record/step_record.h"
#include "kernels/step_ends.h"
#include "tasks/task.h"
#include "tensor/device_record.h"
#include "train/step/step_marks.h"

namespace engine {

/// Figures of the last steps on their way from the device to the host, oldest first. The end of a
/// step, which may be captured, puts them into host memory (kernels/step_ends.h). On the CPU they
/// are there at once. On a GPU the host reads them after it has submitted the next step, so that
/// the device is never idle.
class FigureRing {
public:
    explicit FigureRing(const Device& device);
    ~FigureRing();
    FigureRing(const FigureRing&) = delete;
    FigureRing& operator=(const FigureRing&) = delete;

    /// For the end of each step; the same as long as the ring lives.
    const kernels::FigureSlots& slots() const { return slots_; }
    /// A step begins, which gathers its figures in `figures`. Returns its marks, none of which is
    /// made. Needs !full().
    StepMarks& begin(const DeviceRecord<kernels::StepFigures>& figures);
    /// The step that began was submitted, and its last mark was made behind its end.
    void push();
    /// Steps pushed and not popped.
    std::size_t size() const { return size_; }
    bool full() const { return size_ > depth(); }
    /// How many may stay in flight while the next step is given: 0 on the CPU.
    std::size_t depth() const { return device_.kind == Device::Kind::cpu ? 0 : 1; }

    struct Arrived {
        kernels::StepFigures figures;
        std::vector<float> gaps;  // of the step's marks
    };
    /// The oldest; waits until it is there, without a call that waits for the device. Needs
    /// size() > 0.
    Arrived pop();

private:
    static std::size_t slot_of(std::int64_t step) {
        return static_cast<std::size_t>(step % kernels::FigureSlots::count);
    }

    Device device_;
    kernels::FigureSlots slots_;
    std::vector<StepMarks> marks_;  // by slot
    std::int64_t pushed_ = 0;
    bool begun_ = false;  // a step that was not pushed
    std::size_t size_ = 0;
};

/// Columns of the record that a task's metrics have. Asks the task for its descriptors once; the
/// task must outlive it.
class TaskColumns {
public:
    explicit TaskColumns(const Task& task);
    /// The metrics of a step, and the updates of the optimizers after the first; NaN elsewhere.
    void fill(StepRecord& row, const kernels::StepFigures& figures) const;

private:
    const Task* task_;
    std::vector<float StepRecord::*> columns_;  // metrics, then updates
    std::size_t metrics_ = 0;                   // how many are metrics
};

/// Columns of the record that the task's metrics take beside accuracy.
std::size_t metric_column_count(const Task& task);

/// How to read a run's figures, by its settings.
struct RowOptions {
    bool scaled = false;       ///< the loss is scaled
    bool may_skip = false;     ///< steps with gradients that are not finite are skipped
    bool watched_f16 = false;  ///< f16 gradients of the backward pass were looked at
    const TaskColumns* columns = nullptr;
};

/// Fills a row from the figures of a step: loss, metrics, gradients, scale, updates, times.
void fill_row(StepRecord& row, const FigureRing::Arrived& arrived, const RowOptions& meaning);

/// A completed step by its figures, and the scale of the next step (1 without a scaler).
struct CompletedStep {
    StepRecord row;
    kernels::MetricSums sums{};
    double next_loss_scale = 1;
    std::int64_t state_resets = 0;  ///< streams whose carried state was not finite
    std::optional<Error> refused;   ///< a value of the step, found on a GPU: the run is to end
};

/// The values that leave the device: the figures of the steps in flight, and the host's part of
/// each.
class StepFigures {
public:
    explicit StepFigures(const Device& device) : ring_(device) {}

    /// Like FigureRing::slots().
    const kernels::FigureSlots& slots() const { return ring_.slots(); }
    StepMarks& begin(const DeviceRecord<kernels::StepFigures>& figures) {
        return ring_.begin(figures);
    }
    /// The step was submitted, with its last mark. `row` holds what the host knows.
    void push(const StepRecord& row);
    /// The oldest step, if one more than may be in flight was pushed, or if `all`.
    std::optional<CompletedStep> take(bool all, const RowOptions& meaning);

private:
    FigureRing ring_;
    std::deque<StepRecord> in_flight_;
};

}  // namespace engine
