#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/runs/comparison.h"
#include "engine/runs/run_queue.h"
#include "engine/runs/run_store.h"
#include "engine/settings/run_config.h"

namespace engine {

/// The points of a sweep: a grid, a list, or each line of the list with each point of the grid.
struct SweepRequest {
    std::string json = "{}";             ///< settings that all runs share
    std::vector<std::string> overrides;  ///< on top of them, as --set
    /// "optimizer.lr=0.1,0.01": a field and its values. The last one changes fastest.
    std::vector<std::string> grid;
    /// Lines of JSON, each an object of settings to apply on top, by section or by path:
    /// {"optimizer.lr": 0.1, "model": {"kind": "mlp"}}. Empty lines are ignored.
    std::string list;
    std::int64_t seeds = 1;  ///< of each point, from the settings' seed on
    std::int64_t max_runs = 10'000;
};

/// One point: what it sets, and the settings with the first of its seeds.
struct SweepPoint {
    std::string label;  ///< "optimizer.lr=0.1 batch_size=64"
    RunConfig config;
};

struct SweepPlan {
    std::vector<SweepPoint> points;
    std::int64_t seeds = 1;
    std::vector<SettingError> errors;  ///< of all points, each once; empty if all can run
    std::vector<Message> notes;
    std::string batch = {};  ///< of its runs; empty: made from their settings

    /// The runs in their order, point by point. Their batch is the same for the same runs.
    std::vector<QueueEntry> entries() const;
};

/// Makes and validates the points; skips a point whose settings equal an earlier one's. Never
/// throws for bad input.
SweepPlan plan_sweep(const SweepRequest& request);

/// Reconstructs the plan of a batch of runs, in their order. Runs that differ only in the seed are
/// one point.
SweepPlan to_sweep_plan(const std::vector<QueuedRun>& batch);

/// Enters the runs of a sweep that the queue has lost: ended ones with their end, the others to go
/// on. Points that were never begun are not known any more. Throws as the queue does.
void requeue_sweep(RunQueue& queue, std::span<const RunSummary> runs);

/// How the runs of a point did.
struct SweepRow {
    std::string label;
    std::int64_t finished = 0;  ///< seeds whose run has ended, well or not
    std::int64_t failed = 0;    ///< of them: ended by an error, or diverged
    Metric metric;              ///< the primary one; an empty key: the loss
    std::string part;           ///< "validation", "test" or, before an evaluation, empty
    MeanSpread best;            ///< over the seeds, of the best evaluation of each
    MeanSpread last;
    MeanSpread wall_s;
    std::vector<std::string> runs;  ///< ids in the store
};

/// The folder of a run of the same batch that has ended and had the same data set: a run that
/// begins now must find the same data, or their results could not be compared
/// (SessionOptions::data_of). Empty if there is none.
std::filesystem::path ended_run_with_data(const std::vector<QueuedRun>& queued,
                                          const QueueEntry& wanted, const RunStore& store);

/// The rows of a plan from the ended runs of the queue, best first; points without a figure come
/// last.
std::vector<SweepRow> sweep_rows(const SweepPlan& plan, const std::vector<QueuedRun>& queued,
                                 const RunStore& store);
/// The rows as a table for a terminal, with a header.
std::string sweep_table(const SweepPlan& plan, const std::vector<SweepRow>& rows);
/// Sums up the rows, best first: which point won, and whether by more than seed noise. One
/// sentence; empty if no point has a figure.
std::string sweep_verdict(const SweepPlan& plan, const std::vector<SweepRow>& rows);
/// A row as one JSON object, a line without a newline; `rank` from 1.
std::string to_json_line(const SweepPlan& plan, const SweepRow& row, std::int64_t rank);

}  // namespace engine
