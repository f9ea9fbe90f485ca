#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/record/event.h"
#include "engine/record/step_record.h"
#include "engine/runs/comparison.h"

namespace engine {

/// Where a followed run comes from: a session of this process, or a folder that another one writes.
class RunSource {
public:
    virtual ~RunSource() = default;
    virtual RunState state() const = 0;
    virtual StepRecordReader record() const = 0;
    virtual std::string run() const = 0;
    virtual std::vector<Event> drain() = 0;
    /// Requests the end of the run, or stops following it.
    virtual void stop() = 0;
    /// Whether the rows of a resumed run from before were already shown.
    virtual bool shown_before() const { return true; }
    /// Says what the run does before its first step.
    virtual std::string waiting() const { return "preparing"; }
    /// Says how a run stands that is over without an end event; may be empty.
    virtual std::string unfinished() const { return "stopped before the first step"; }
};

/// How a followed run ended.
struct RunOutcome {
    FinishedRun run;
    Metric metric{};        ///< the primary one; an empty key: the task has none
    bool ended = false;     ///< run.done is filled
    std::string id{};       ///< of the run; empty: it did not begin
    std::string failure{};  ///< the sentence of the error that ended it
    int exit_code = 0;      ///< of a program that followed it alone
};

/// Shows a followed run. Rows come before the events of later steps.
class RunListener {
public:
    virtual ~RunListener() = default;
    /// Whether rows() is to be called.
    virtual bool wants_rows() const { return false; }
    /// The next rows of the record, a few hundred at the most.
    virtual void rows(std::span<const StepRecord> next) { (void)next; }
    virtual void event(const Event& event) = 0;
};

/// Follows a run to its end: passes its rows and events on in order and gathers its outcome. One
/// thread.
class RunFollower {
public:
    /// Both must outlive this object.
    RunFollower(RunSource& source, RunListener& listener) : source_(source), listener_(listener) {}

    /// Passes on what is new. Call it until the run is over().
    void look();
    bool over() const { return over_; }
    const RunOutcome& outcome() const { return outcome_; }
    /// Why the record cannot be read: another program damaged it. Such a run has an empty one in
    /// the outcome.
    const std::optional<Error>& unreadable() const { return unreadable_; }

private:
    void take_events();
    void pass_rows_up_to(std::int64_t count);
    bool read(const StepRecordReader& record, std::int64_t first, std::span<StepRecord> rows);
    void take_record();

    // Each brings rows and outcome up to the event.
    void note(const RunStarted& event);
    void note(const RunResumed& event);
    void note(const EpochDone& event);
    void note(const ScaleChanged& event);
    void note(const CheckpointSaved& event) { pass_rows_up_to(event.step); }
    void note(const StepExamined& event) { pass_rows_up_to(event.step); }
    void note(const RecipeStarted&) {}
    void note(const ScaleAlarm&) {}
    void note(const RunFailed& event);
    void note(const RunDone& event);
    void note(const StateChanged&) {}
    void note(const RunWarning&) {}

    RunSource& source_;
    RunListener& listener_;
    bool over_ = false;
    std::int64_t passed_ = 0;  ///< rows
    std::optional<Error> unreadable_;
    RunOutcome outcome_;
};

}  // namespace engine
