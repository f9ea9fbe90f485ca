#pragma once

#include <cstdint>

namespace ui {

class RunTrack;

/// Steps that were skipped or came out non-finite, among the rows that were read: those that
/// engine::list_skips() lists, but for steps that only an examination found.
struct BadSteps {
    std::int64_t last_skip = -1;  ///< row; -1: none
    std::int64_t losses = 0;      ///< that are not finite
    std::int64_t norms = 0;       ///< of gradients, that are not finite

    bool any() const { return last_skip >= 0 || losses > 0 || norms > 0; }
    bool operator==(const BadSteps&) const = default;
};
BadSteps badSteps(const RunTrack& track);

/// The nearest such row before `from` (direction below 0) or after it; -1: none.
std::int64_t nextBadRow(const RunTrack& track, std::int64_t from, int direction);

}  // namespace ui
