#pragma once

#include <algorithm>
#include <cstdint>

namespace kernels::cpu {

/// Elements below which a second thread costs more than it gains: waking it takes some
/// microseconds, in which one core moves about this much.
constexpr std::int64_t loop_grain = 32768;

/// Grain of loops over rows of `cols` elements.
constexpr std::int64_t row_grain(std::int64_t cols) {
    return std::max<std::int64_t>(1, loop_grain / std::max<std::int64_t>(cols, 1));
}

}  // namespace kernels::cpu
