#pragma once

#include "kernels/support.h"

namespace kernels::test {

/// The type of statistics and losses.
inline DType wide_of(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

/// Row `row` of softmax(x), or of its logarithm, in double.
inline std::vector<double> softmax_row(const Buffer& x, std::int64_t row, std::int64_t cols,
                                       bool log) {
    double most = -std::numeric_limits<double>::infinity(), sum = 0;
    for (std::int64_t c = 0; c < cols; ++c) most = std::max(most, x.get(row * cols + c));
    for (std::int64_t c = 0; c < cols; ++c) sum += std::exp(x.get(row * cols + c) - most);
    std::vector<double> y;
    for (std::int64_t c = 0; c < cols; ++c) {
        const double shifted = x.get(row * cols + c) - most;
        y.push_back(log ? shifted - std::log(sum) : std::exp(shifted) / sum);
    }
    return y;
}

/// Error in units of f32 (f64): 2 for exp, 1 for the shift (times the shifted value, as an
/// exponent), at most 128 + 16 for the sum of positive terms, 1 for the quotient. Relative for
/// softmax; log turns that into an absolute error.
inline double softmax_slack(DType dtype, double shifted, double expected, bool log) {
    const double unit = dtype == DType::f64 ? 0x1p-52 : 0x1p-23;
    const double relative = unit * (150 + std::fabs(shifted));
    return log ? relative + unit * std::fabs(expected) : relative * expected;
}

}  // namespace kernels::test
