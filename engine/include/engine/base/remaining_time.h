#pragma once

#include <optional>
#include <string>

namespace engine {

/// How long a piece of work still takes, by the share of it that is done: at the pace since it was
/// first seen, so that what a resumed run or a cache had before does not count as fast.
class RemainingTime {
public:
    /// `share` from 0 to 1 is done at `now` (seconds on any clock). Seconds that are left; nothing
    /// in the first second, and while there is no progress. A smaller share than before is other
    /// work, which is timed anew.
    std::optional<double> after(double share, double now);
    /// Reads this machine's steady clock and does the same.
    std::optional<double> after(double share);

private:
    bool begun_ = false;
    double first_share_ = 0, first_time_ = 0, share_ = 0;
};

/// "45 s left", "3 min 20 s left", "2 h 5 min left".
std::string time_left_text(double seconds);

}  // namespace engine
