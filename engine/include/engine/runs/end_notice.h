#pragma once

#include <string>
#include <utility>
#include <vector>

namespace engine {

struct RunDone;

/// The state of a run that ended so: "done", "stopped", "diverged" or "failed". An error comes
/// first. A run whose loss was not finite to its end has diverged, also if it made all its steps.
std::string end_state(const RunDone& done);

/// That a long piece of work has ended, for a command that the user gave on the command line or
/// typed in the window (--notify). Such a command is never read from a file: a settings file of
/// somebody else must not run programs.
struct EndNotice {
    std::string kind;               ///< "run", "comparison", "sweep" or "queue"
    std::vector<std::string> runs;  ///< ids; empty: none began
    std::string state;              ///< "done", "stopped", "diverged" or "failed"
    std::string reason;             ///< "epochs", the sentence of an error, "3 done, 1 failed"
};

/// HALFTONE_KIND, HALFTONE_RUN (ids with a space between them), HALFTONE_STATE, HALFTONE_REASON.
std::vector<std::pair<std::string, std::string>> notice_environment(const EndNotice& notice);

/// Runs the command in /bin/sh with these variables and waits for it. Returns its exit status; -1
/// if it could not be started or was ended by a signal.
int run_notice_command(const std::string& command, const EndNotice& notice);

}  // namespace engine
