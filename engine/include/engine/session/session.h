#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/data/reading_share.h"
#include "engine/instruments/captured_step.h"
#include "engine/instruments/weight_watch.h"
#include "engine/record/event.h"
#include "engine/record/step_record.h"
#include "engine/record/twin.h"
#include "engine/runs/run_store.h"
#include "engine/session/compute_thread.h"
#include "engine/settings/run_config.h"

namespace engine {

class Communicator;

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

/// Choices for a learning-rate schedule that falls to its end (cosine, one-cycle, polynomial) when
/// the run gets more steps.
enum class LongerSchedule {
    ask,       ///< Error(settings) with both rates
    constant,  ///< the last rate for the added steps
    cycle,     ///< the schedule anew over the added steps
    stretch,   ///< one schedule over all steps
};

/// The point from which a run continues (engine/train/resume.h plans it).
struct Continuation {
    std::filesystem::path run_folder;
    std::filesystem::path checkpoint;  ///< of that run; empty: from its start
    bool in_place = true;              ///< else in a new run, whose parent it is
    /// Newer checkpoints that cannot be read: they are moved aside when the run goes on in place.
    std::vector<std::filesystem::path> damaged{};
    LongerSchedule schedule = LongerSchedule::ask;
};

/// The purpose for which a run's data set is opened again. Evaluating uses changed data, and tells;
/// the others need the same bits and refuse them.
enum class DataUse {
    evaluate,
    replay,  ///< a step is computed again
    go_on,   ///< the run continues
    sweep,   ///< a sweep continues with another run
};

/// How the data of a run that was to go on have changed, if that can be accepted.
enum class DataChanged {
    no,
    contents,
    samples,  ///< their number too: the run goes on as a new one
};

struct SessionOptions {
    std::filesystem::path folder;                ///< run folder; empty: a new one in the store
    bool evaluate = true;                        ///< the test set after each epoch
    std::optional<Continuation> continuation{};  ///< none: the run begins
    bool save_checkpoints = true;                ///< as the settings say
    /// A full disk pauses the run, to go on when there is room; otherwise it fails.
    bool pause_when_disk_full = false;
    /// Write the loss and the unscaled gradients of the first step to this safetensors file.
    std::filesystem::path dump_gradients;
    std::string group = {};        ///< RunSummary::group of a new run
    std::string group_plan = {};   ///< group_plan_json() of that group, kept with a new run
    /// A new_run_group() that the sessions of one thread share which are started together, so that
    /// they train in turns (RunStarted::turns). Empty: the session trains alone.
    std::string turns = {};
    std::shared_ptr<Twin> twin{};  ///< in lockstep with another session on the same thread
    Twin::Side twin_side = Twin::Side::reference;
    std::vector<std::shared_ptr<WeightWatch>> weights{};  ///< single weights to follow
    /// A run whose data set this one must find as it was (DataUse). Empty: that of the
    /// continuation.
    std::filesystem::path data_of{};
    DataUse data_use = DataUse::go_on;
    bool accept_data = false;  ///< go on although the data have changed, where that is possible
    /// Joins the ranks of a data-parallel run, whose rank 0 has the session; null: one process.
    std::shared_ptr<Communicator> communicator{};
};

/// Checks, without opening data, whether this machine can run the settings. Throws Error(device) if
/// it lacks the device, or if the device lacks the precision.
void check_device(const RunConfig& config);

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
