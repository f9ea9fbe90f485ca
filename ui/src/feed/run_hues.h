#pragma once

#include <string>
#include <vector>

namespace ui {

/// Distinguishes a run from others beside it: a dash, or a colour of its own.
struct RunHue {
    int own = -1;  ///< the n-th colour that is no precision's; -1: that of the run's precision
    bool dashed = false;
    bool operator==(const RunHue&) const = default;
};

/// The colour of a precision means that precision alone. Two runs of one precision share its
/// colour, and the second is dashed. From three runs of one precision on, precision is not what
/// the runs differ in: all get colours of their own, and a dash when those are used up.
std::vector<RunHue> runHues(const std::vector<std::string>& precisions);

}  // namespace ui
