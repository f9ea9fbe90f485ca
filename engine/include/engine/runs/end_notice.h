#pragma once

#include <string>
#include <utility>
#include <vector>

namespace engine {

struct RunDone;

/// Names how a run ended: "done", "stopped", "diverged" or "failed". An error comes first. A run
/// whose loss stayed non-finite until its end has diverged, even if it made all its steps.
std::string end_state(const RunDone& done);

/// Describes finished work to the command that the user gave with --notify or typed in the window.
/// The command is never read from a file: somebody else's settings file must not run programs.
struct EndNotice {
    std::string kind;               ///< "run", "comparison", "sweep" or "queue"
    std::vector<std::string> runs;  ///< ids; empty: none began
    std::string state;              ///< "done", "stopped", "diverged" or "failed"
    std::string reason;             ///< "epochs", the sentence of an error, "3 done, 1 failed"
};

/// Environment variables of the command: HALFTONE_KIND, HALFTONE_RUN (ids separated by spaces),
/// HALFTONE_STATE, HALFTONE_REASON.
std::vector<std::pair<std::string, std::string>> notice_environment(const EndNotice& notice);

/// Runs the command in /bin/sh with these variables and waits for it. Returns its exit status; -1
/// if it could not be started or was ended by a signal.
int run_notice_command(const std::string& command, const EndNotice& notice);

}  // namespace engine
