#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/support.h"

namespace kernels::test {

/// Bound on |computed - exact| of a sum of `terms` products, `magnitude` the sum of their absolute
/// values, added in f32 (f64 for f64) in any order and rounded once to dtype: each addition, and
/// the product where it is not exact, errs by at most one rounding of a partial sum, which is at
/// most `magnitude`; an epilogue counts as four additions more; the store errs by half a unit of
/// the result.
inline double sum_tolerance(DType dtype, std::int64_t terms, double magnitude, double result) {
    const double unit = dtype == DType::f64 ? 0x1p-53 : 0x1p-24;
    const double sums = static_cast<double>(terms + 4) * unit * magnitude;
    return sums + half_ulp(dtype, std::abs(result) + sums);
}

}  // namespace kernels::test
