#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// How a program ended that this one has run.
struct ProgramOutcome {
    bool started = false;  ///< false: there is no such program, or it cannot be run
    bool in_time = true;   ///< false: it was ended because it took too long
    bool stopped = false;  ///< it was ended because of the stop token; in_time is false then
    int exit_code = -1;    ///< -1: not started, or ended by a signal
    std::string output;    ///< first MiB of standard output
    std::string errors;    ///< first MiB of standard error

    bool succeeded() const { return exit_code == 0; }
};

/// Runs a program of the PATH and waits for its end, at most `limit`. No shell reads the arguments,
/// the first of which is the program's name. Standard input is empty, and no signal is blocked. The
/// program ends within a tenth of a second after `stop` is requested.
ProgramOutcome run_program(const std::vector<std::string>& arguments, std::chrono::seconds limit,
                           const std::stop_token& stop = {});

/// Whether a folder of the PATH has a program of this name.
bool is_program(std::string_view name);

}  // namespace engine
