#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "train/run/run_home.h"
#include "train/run/run_steps.h"

namespace engine {

/// A run that goes on: its checkpoint, its place, and what it takes over.
class ContinuedRun {
public:
    /// Reads the checkpoint, if there is one. `config`: the settings with which the run goes on.
    /// Throws Error(data).
    ContinuedRun(const Continuation& from, const RunConfig& config);

    /// Null: the run begins again from its start.
    const SavedRun* saved() const { return saved_ ? &*saved_ : nullptr; }
    /// Fits the schedule of `config` and of the trainer, whose state is that of the checkpoint, to
    /// `planned` steps. Throws Error(settings) if the user has to choose (lengthen_schedule).
    void set_schedule(RunConfig& config, Trainer& trainer, const PlannedSteps& planned);

    /// Opens the run's folder after `step` steps, or that of a new run. With another number of
    /// samples (`same_size`) it has to be a new one. `columns`: of the task's metrics. Throws
    /// Error(data) for another number of samples within an epoch, whose batches would be different.
    void open(RunHome& home, const RunProgress& progress, std::int64_t step, bool same_size,
              std::size_t columns, const record_layout::OptionalColumns& optional);
    /// Copies rows and events of the parent; nothing if the run goes on in place.
    void copy_parent(RunHome& home, const RunProgress& progress, std::int64_t step) const {
        if (!parent_.empty()) home.copy_parent(from_.run_folder, step, progress.epoch_ended);
    }
    /// The event. `threads`: of the run that goes on.
    RunResumed resumed(const Trainer& trainer, std::int64_t threads);
    /// It is a new run, which has no checkpoint of its own to go on from yet.
    bool needs_checkpoint() const { return !in_place_ && saved_; }

private:
    Continuation from_;
    RunStarted before_;  // as the run began last; default: not known
    std::optional<SavedRun> saved_;
    std::vector<Message> restored_;
    bool in_place_ = true;
    std::string parent_;  // run id; empty: none, or not known
};

}  // namespace engine
