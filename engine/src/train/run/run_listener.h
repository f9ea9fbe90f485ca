#pragma once

#include <functional>
#include <optional>

#include "engine/record/event.h"
#include "tasks/task.h"
#include "train/run/saved_run.h"
#include "train/step/row_builder.h"

namespace engine {

/// Reports an event. The loop sets its run.
using PostEvent = std::function<void(Event)>;

/// An evaluation of both parts, after `epoch` completed epochs and `step` steps.
struct Evaluated {
    PartFigures validation{}, test{};
    std::int64_t epoch = 0, step = 0;
    PictureBands pictures{};
    PartFigures training{};    ///< of the epoch so far
    bool epoch_ended = false;  ///< with this step
    bool made = true;          ///< false: the settings leave this end of an epoch out
};

/// A listener's requests to the run loop.
struct RunRequest {
    bool save = false;             ///< a checkpoint
    bool best = false;             ///< a checkpoint of the best evaluation
    bool stop = false;             ///< the run ends after this epoch
    std::optional<double> rate{};  ///< multiplier of the schedule's rate from the next step on
};

/// Follows a run from step to step (decisions.md#training-loop, D21). The
/// order stands in RunLoop::add_listeners(); a session adds its own behind them. All calls come
/// from the compute thread. In a data-parallel run only rank 0 has listeners: the loop carries
/// their requests to the other ranks.
class RunListener {
public:
    virtual ~RunListener() = default;

    /// Before the next step, after this many steps and completed epochs.
    virtual RunRequest before_step(std::int64_t, std::int64_t) { return {}; }
    /// The row of a step was written. Throws Error if the step ends the run.
    virtual void on_step(const CompletedStep&) {}
    /// A step was submitted, and the rows of finished steps were written.
    virtual void after_step() {}
    virtual RunRequest on_evaluation(const Evaluated&) { return {}; }
    /// The evaluation was that of an epoch's end.
    virtual RunRequest on_epoch(const Evaluated&) { return {}; }
    /// An epoch ended that the settings do not evaluate; there are training figures alone.
    virtual void on_unevaluated_epoch(const Evaluated&) {}
    /// A listener asked for a checkpoint, or the user did.
    virtual void on_checkpoint(const SavedRun&) {}
    /// At the end, after this many steps and epochs. A run that failed grants no checkpoint.
    virtual RunRequest on_end(std::int64_t, std::int64_t) { return {}; }
    /// Reports work in the background; true while there is some.
    virtual bool poll() { return false; }
    /// Waits for work in the background and adds to the run's last event.
    virtual void complete(RunDone&) {}

    virtual void save_state(SavedRun&) const {}
    /// Throws Error(data) if a number is missing.
    virtual RunRequest load_state(const SavedRun&) { return {}; }
};

}  // namespace engine
