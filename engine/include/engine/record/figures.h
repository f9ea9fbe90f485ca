#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "engine/record/event.h"
#include "engine/record/step_record.h"

namespace engine {

// The figures of one run, each with one name, one definition and one place that computes it. Every
// view asks here: cards, tables, status line, selected step, Runs page, events, reports, the
// command line. Speeds of two runs beside each other are Speed's (engine/record/speed.h), and verdicts
// judge() (engine/verdict/verdict.h). The handbook's page figures.md is the same list for readers.

/// Steps in the mean that `loss_last_20` is.
inline constexpr std::int64_t loss_window = 20;

/// Figures as of the last row of a run's record, over all parts of a run that was resumed. NaN (of
/// counts and bytes 0): unknown.
struct KeyFigures {
    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

    std::int64_t steps = 0;    ///< tried, skipped ones included
    std::int64_t updates = 0;  ///< applied
    std::int64_t skipped = 0;  ///< steps - updates
    std::int64_t samples = 0;  ///< of training, seen so far
    std::int64_t epochs = 0;   ///< completed
    double loss = unknown;     ///< of the batch of the last step
    /// Mean of the training loss over the last 20 steps, fewer at the start. Losses that are not
    /// finite are left out, unless that of the last step is one: then it is this figure.
    double loss_last_20 = unknown;
    PartFigures validation{};  ///< of the last evaluation
    PartFigures test{};
    std::int64_t evaluated_at = 0;  ///< step of the last evaluation; 0: none
    double loss_scale = unknown;    ///< used in the last step
    double scale_now = unknown;     ///< that the next step uses
    double headroom_bits = unknown;  ///< log2 of the last step's scale_ceiling by scale_now
    std::int64_t growths = 0;        ///< of the loss scale
    double train_s = unknown;        ///< time in steps, without evaluations and other runs' turns
    double step_ms = unknown;        ///< train_s by steps
    double samples_per_s = unknown;  ///< samples by train_s
    std::int64_t peak_bytes = 0;     ///< most memory in use up to the last step
    double card_joules = unknown;    ///< energy of the GPU in the run's training time
    double cpu_joules = unknown;     ///< of the processor
};

/// Rows of a record, wherever they are kept.
struct FigureRows {
    std::int64_t size = 0;
    std::function<StepRecord(std::int64_t index)> row;

    FigureRows() = default;
    FigureRows(std::int64_t size_, std::function<StepRecord(std::int64_t)> row_)
        : size(size_), row(std::move(row_)) {}
    FigureRows(const StepRecordReader& record)  // NOLINT(google-explicit-constructor)
        : size(record.size()), row([record](std::int64_t index) { return record.row(index); }) {}
};

/// Collects what a run's figures need from its events: evaluations, changes of the loss scale, and
/// where it was resumed. Events after the step of a resume stop counting.
class FigureEvents {
public:
    void apply(const Event& event);

private:
    friend KeyFigures key_figures(const FigureRows&, const FigureEvents&);
    friend double scale_after(const FigureRows&, const FigureEvents&, std::int64_t);
    struct ScaleStep {
        std::int64_t step;
        float to;
        bool grown;
    };
    struct Evaluation {
        std::int64_t step;
        PartFigures validation;
        PartFigures test;
    };
    std::vector<ScaleStep> scales_;
    std::deque<Evaluation> evaluations_;   ///< the newest ones
    std::vector<std::int64_t> resumed_at_;  ///< steps made before
};

/// Reads a bounded number of rows, however long the run is. Throws Error(data) if the record cannot
/// be read.
KeyFigures key_figures(const FigureRows& record, const FigureEvents& events);

/// The loss scale that follows a step: that of the next step, or, after the last one, the one that
/// the step's event names. NaN for a step that is not in the record.
double scale_after(const FigureRows& record, const FigureEvents& events, std::int64_t step);

/// The mean of the losses of steps [step - 19, step], as `loss_last_20` defines it.
double loss_last_20(const FigureRows& record, std::int64_t step);

}  // namespace engine
