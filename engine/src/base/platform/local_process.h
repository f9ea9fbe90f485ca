#pragma once

#include <cstdint>
#include <optional>

namespace engine {

/// State and start time of a process, from /proc.
struct ProcessStat {
    char state = '?';         ///< proc(5): 'R', 'S', 'Z' ...
    std::uint64_t start = 0;  ///< clock ticks since the machine's start

    /// True once it has ended, even if its parent has not waited for it.
    bool has_ended() const { return state == 'Z' || state == 'X'; }
};
/// Returns nothing if there is no such process, or if this user may not see it.
std::optional<ProcessStat> read_process_stat(std::int64_t pid);

/// A process of this machine. Its start time distinguishes it from a later process with the same
/// number.
struct LocalProcess {
    int pid = 0;
    std::uint64_t start = 0;  ///< ProcessStat::start

    /// False once it has ended, and for one that was not there when it was looked up.
    bool is_alive() const;
};

/// The process with this number. start is 0 if there is none, or none that is visible here.
LocalProcess local_process(int pid);

}  // namespace engine
