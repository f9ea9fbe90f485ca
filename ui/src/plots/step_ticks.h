#pragma once

#include <cstdint>
#include <vector>

namespace ui {

/// Round numbers of steps from 0 to `end`, at equal distances: 3 to 6 of them where there are that
/// many steps.
std::vector<std::int64_t> stepTicks(double end);

}  // namespace ui
