#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/runs/comparison.h"
#include "engine/session/session.h"

namespace app {

/// How a followed run ended.
struct Outcome {
    engine::FinishedRun run;
    engine::Metric metric{};  ///< the primary one; an empty key: the task has none
    bool ended = false;       ///< run.done is filled
    std::string id{};         ///< of the run; empty: it did not begin
    std::string failure{};    ///< the sentence of the error that ended it
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
    /// Requests the end of the run, or stops following it.
    virtual void stop() = 0;
    /// Whether the rows of a resumed run from before were already shown.
    virtual bool shown_before() const { return true; }
    /// The progress line before the first step.
    virtual std::string waiting() const { return "preparing"; }
    /// The last line of a run that ended without an end event; may be empty.
    virtual std::string unfinished() const { return "stopped before the first step"; }
};

/// A session with the prefix of its lines.
struct Followed {
    std::string label;  ///< "amp-fp16"
    engine::Session* session;
    std::function<void(const std::string& run)> started{};  ///< told the run's id; may be null
};

/// Follows sessions until all have ended: prints a progress line, or with `json` one object per
/// line on standard output. The sessions stop after the current step on a request to end
/// (InterruptScope), and if standard output is closed.
std::vector<Outcome> follow(const std::vector<Followed>& sessions, bool json);

/// Follows one run of any source.
Outcome follow(const std::string& label, RunSource& source, bool json);

}  // namespace app
