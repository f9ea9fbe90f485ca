#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/data/reading_share.h"
#include "engine/instruments/captured_step.h"
#include "engine/instruments/weight_watch.h"
#include "engine/record/event.h"
#include "engine/record/step_record.h"
#include "engine/runs/run_store.h"
#include "engine/session/compute_thread.h"
#include "engine/settings/run_config.h"
#include "engine/train/session_options.h"

namespace engine {

/// Requests; a repeated or late one is harmless.
enum class Command {
    start,              ///< from idle: prepare and train
    pause,              ///< after the step in flight
    resume,             ///< from paused
    step,               ///< from idle or paused: one step, then paused
    stop,               ///< after the step in flight; the run is kept
    validate_now,       ///< evaluate the test set after the step in flight
    checkpoint,         ///< save a checkpoint after the step in flight
    watch_skips,        ///< examine skipped and non-finite steps as they happen (StepExamined)
    unwatch_skips,      ///< no longer, unless the settings say so (instruments.armed)
    sample_histograms,  ///< keep the next step's histograms (engine/record/histogram_record.h)
};

/// A step that is being examined between two steps of the run.
struct ExaminationProgress {
    std::int64_t step = 0;        ///< 0: none is
    std::int64_t operations = 0;  ///< checked so far
    std::int64_t expected = 0;    ///< by the last examination; 0: unknown
};

/// One training run. Commands in, state changes out, steps in the record. Thread-safe: any thread
/// may post, one thread drains. The destructor stops the run after its step in flight, and waits.
class Session {
public:
    /// Nothing runs before Command::start. `config` must have passed validate(), else
    /// Error(settings).
    Session(RunConfig config, std::shared_ptr<ComputeThread> thread,
            std::shared_ptr<RunStore> store, SessionOptions options = {});
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    void post(Command command);
    /// Copies the next step: between two steps while the run trains, and at once while it is
    /// paused. Training continues with the same bits. `answer` is called exactly once, on the
    /// compute thread, or on this one if the run has ended; it must return soon, throw nothing and
    /// not use the session. It receives an error if the run has not started, or ends before the
    /// step.
    void capture_next_step(std::function<void(NextStepCapture)> answer);
    /// Events since the last call, oldest first; none is ever dropped.
    std::vector<Event> drain();
    /// The state that the worker last reported.
    RunState state() const;
    /// The record; empty (size 0) until the run has started.
    StepRecordReader record() const;
    /// The run's id; empty until the run has started.
    std::string run() const;
    const RunConfig& config() const;
    /// While it prepares.
    ReadingShare reading() const;
    ExaminationProgress examination() const;
    /// Whether the session failed, before anything was written, because the run's data have
    /// changed; another one with SessionOptions::accept_data can go on with them.
    DataChanged data_changed() const;
    /// Blocks until the state is done or failed, or seconds have passed; true if it ended.
    bool wait(double seconds);

private:
    struct Impl;
    std::shared_ptr<ComputeThread> thread_;
    std::shared_ptr<Impl> impl_;
};

}  // namespace engine
