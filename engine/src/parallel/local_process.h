#pragma once

#include <cstdint>

namespace engine {

/// A process of this machine. Its start time distinguishes it from a later process with the same
/// number.
struct LocalProcess {
    int pid = 0;
    std::uint64_t start = 0;  ///< clock ticks since the machine's start

    /// From /proc: false once it has ended, even if its parent has not waited for it.
    bool is_alive() const;
};

/// The process with this number. start is 0 if there is none, or none that is visible here.
LocalProcess local_process(int pid);

}  // namespace engine
