#pragma once

#include <malloc.h>

#include <cstdint>
#include <fstream>
#include <limits>
#include <string>

namespace engine::test {

/// The most memory of this process since a moment, as the kernel counts it.
class PeakMemory {
public:
    PeakMemory() {
        ::malloc_trim(0);  // what was freed before counts for nothing
        std::ofstream reset("/proc/self/clear_refs");
        reset << "5" << std::flush;
        known_ = static_cast<bool>(reset);
        before_ = status("VmRSS:");
    }

    /// Whether the system lets a process set its own peak back, and freed memory is given back: a
    /// sanitizer keeps it for a while.
    bool known() const { return !has_sanitizer && known_ && before_ > 0; }
    /// Bytes above what was in use at the start.
    std::int64_t grown() const { return status("VmHWM:") - before_; }

private:
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    static constexpr bool has_sanitizer = true;
#else
    static constexpr bool has_sanitizer = false;
#endif

    static std::int64_t status(const std::string& line) {
        std::ifstream in("/proc/self/status");
        for (std::string word; in >> word;) {
            std::int64_t kibibytes = 0;
            if (word == line && in >> kibibytes) return kibibytes << 10;
            in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
        }
        return 0;
    }

    bool known_ = false;
    std::int64_t before_ = 0;
};

}  // namespace engine::test
