#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/support.h"

namespace kernels::test {

/// Bound on |computed - exact| of a sum of `terms` products, added in f32 (f64 for f64) in any
/// order and rounded once to dtype. `magnitude` is the sum of the products' absolute values. Each
/// addition, and each inexact product, errs by at most one rounding of a partial sum, which is at
/// most `magnitude`. An epilogue counts as four more additions. The store errs by half a unit of
/// the result.
inline double sum_tolerance(DType dtype, std::int64_t terms, double magnitude, double result) {
    const double unit = dtype == DType::f64 ? 0x1p-53 : 0x1p-24;
    const double sums = static_cast<double>(terms + 4) * unit * magnitude;
    return sums + half_ulp(dtype, std::abs(result) + sums);
}

}  // namespace kernels::test
