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

/// A session, and how its lines begin.
struct Followed {
    std::string label;  ///< "amp-fp16"
    engine::Session* session;
    std::function<void(const std::string& run)> started{};  ///< told the run's id; may be null
};

/// Follows sessions until all have ended: a progress line for people, or with `json` one object a
/// line on standard output. Ctrl-C, SIGTERM, SIGHUP (unless ignored, as under nohup) and a closed
/// standard output stop them after the step; a second signal ends the program.
std::vector<Outcome> follow(const std::vector<Followed>& sessions, bool json);

}  // namespace app
