#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/session.h"

namespace app {

/// How a followed run ended.
struct Outcome {
    engine::RunDone done{};
    bool ended = false;  ///< done is filled
    int exit_code = 0;
    std::vector<double> test_losses;
    std::vector<double> test_accuracies;
    std::int64_t growths = 0;
};

/// A session, and how its lines begin.
struct Followed {
    std::string label;  ///< "amp-fp16"
    engine::Session* session;
};

/// Follows sessions until all have ended: a progress line for people, or with `json` one object a
/// line on standard output. Ctrl-C stops them after the step; a second one ends the program.
std::vector<Outcome> follow(const std::vector<Followed>& sessions, bool json);

}  // namespace app
