#pragma once

#include <cmath>

#include "kernels/elementwise.h"

namespace kernels::cpu {

/// Whether no element is infinite or NaN (nor, in f64, beyond f32's numbers).
inline bool is_finite(ConstArray x) {
    float largest = 0;
    abs_max(&largest, x, {});
    return std::isfinite(largest);
}

}  // namespace kernels::cpu
