#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "engine/base/names.h"

namespace engine {

/// Requests of other programs, of this machine or another one that has the folder, to the one that
/// trains a run (file-formats.md#who-writes-a-run).
enum class OutsideRequest { stop, pause, unpause };
template <>
inline constexpr std::array enum_names<OutsideRequest> = {"stop", "pause", "unpause"};

/// The answer of the program that trains the run.
struct RequestAnswer {
    std::string host;          ///< empty: this machine
    std::int64_t process = 0;  ///< there
    /// The run has stopped, is paused, or goes on. False: it will, after what it is in.
    bool is_done = false;
};

/// Writes a request into the run's folder and waits for the answer, for at most `timeout_s` seconds
/// in all. Throws Error(state) if nobody trains the run, if it ends before it is paused, and if no
/// answer comes, which withdraws the request; Error(io) if the request cannot be written.
RequestAnswer send_request(const std::filesystem::path& run_folder, OutsideRequest request,
                           double timeout_s);

}  // namespace engine
