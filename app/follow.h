#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/comparison.h"
#include "engine/session.h"

namespace app {

/// How a followed run ended.
struct Outcome {
    engine::FinishedRun run;
    engine::Metric metric{};  ///< the primary one; an empty key: the task has none
    bool ended = false;       ///< run.done is filled
    int exit_code = 0;
};

/// Where a run comes from: a session of this process, or a folder that another one writes.
class RunSource {
public:
    virtual ~RunSource() = default;
    virtual engine::RunState state() const = 0;
    virtual engine::StepRecordReader record() const = 0;
    virtual std::string run() const = 0;
    virtual std::vector<engine::Event> drain() = 0;
    /// Asks for the end of the run, or of following it.
    virtual void stop() = 0;
    /// Whether rows that a resumed run has from before were shown when they were made.
    virtual bool shown_before() const { return true; }
    /// What the line of progress says before the first step.
    virtual std::string waiting() const { return "preparing"; }
    /// What to say of a run that is over and has not said so itself; may be empty.
    virtual std::string unfinished() const { return "stopped before the first step"; }
};

/// A session, and how its lines begin.
struct Followed {
    std::string label;  ///< "amp-fp16"
    engine::Session* session;
    std::function<void(const std::string& run)> started{};  ///< told the run's id; may be null
};

/// Follows sessions until all have ended: a progress line for people, or with `json` one object a
/// line on standard output. Ctrl-C, SIGTERM, SIGHUP (unless ignored, as under nohup), SIGUSR1 where
/// this is one of several ranks, and a closed standard output stop them after the step; a second
/// signal ends the program.
std::vector<Outcome> follow(const std::vector<Followed>& sessions, bool json);

/// The same for one run of any source.
Outcome follow(const std::string& label, RunSource& source, bool json);

}  // namespace app
