#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "cpu/scalar_convert.h"

namespace kernels::cpu {

/// Whether the row is -inf throughout. `most`, its maximum, may have passed a NaN over.
template <class T, class W>
bool all_masked(const T* row, std::int64_t cols, W most) {
    constexpr W least = -std::numeric_limits<W>::infinity();
    return most == least &&
           std::all_of(row, row + cols, [](T v) { return static_cast<W>(widen(v)) == least; });
}

}  // namespace kernels::cpu
