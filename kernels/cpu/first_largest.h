#pragma once

#include <cmath>
#include <cstdint>

#include "cpu/scalar_convert.h"

namespace kernels::cpu {

inline bool is_nan(double v) { return std::isnan(v); }
inline bool is_nan(std::int64_t) { return false; }

/// Index of the first largest of n elements, n > 0, `step` apart; a NaN counts as largest.
template <class T>
std::int64_t first_largest(const T* x, std::int64_t n, std::int64_t step = 1) {
    std::int64_t best = 0;
    auto most = widen(x[0]);
    for (std::int64_t i = 1; i < n && !is_nan(most); ++i) {
        const auto v = widen(x[i * step]);
        if (v > most || is_nan(v)) {
            most = v;
            best = i;
        }
    }
    return best;
}

}  // namespace kernels::cpu
