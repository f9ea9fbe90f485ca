#pragma once

#include <gtest/gtest.h>

#include "kernels/step_figures.h"
#include "kernels/support.h"

namespace kernels::test {

/// Sums of squares by the definition of AddSquares, with a bound for sums of doubles in another
/// order.
struct Squares {
    double sums[3] = {};
    double slack[3] = {};
};

inline Squares squares_of(const Buffer& prediction, const Buffer& target) {
    long double sums[3] = {}, sizes[3] = {};
    for (std::int64_t i = 0; i < target.size(); ++i) {
        const long double wanted = target.get(i);
        const long double error = prediction.get(i) - wanted;
        const long double terms[] = {error * error, wanted, wanted * wanted};
        for (std::size_t k = 0; k < 3; ++k) {
            sums[k] += terms[k];
            sizes[k] += std::fabs(terms[k]);
        }
    }
    Squares result;
    // Each term is rounded up to three times, each addition once.
    const auto roundings = static_cast<long double>(target.size() + 3);
    for (std::size_t k = 0; k < 3; ++k) {
        result.sums[k] = static_cast<double>(sums[k]);
        result.slack[k] = static_cast<double>(roundings * 0x1p-52L * sizes[k]);
    }
    return result;
}

inline const GradientStatistics one_statistics{0, 4, 16, 5, 6, 7, 8, 9, 3};
const GradientStatistics other_statistics{1, 3, 0.5, 10, 20, 30, 40, 50, 2};

inline void expect_equal_statistics(const GradientStatistics& actual, const GradientStatistics& expected) {
    EXPECT_EQ(actual.found_inf, expected.found_inf);
    if (std::isnan(expected.abs_max))
        EXPECT_TRUE(std::isnan(actual.abs_max));
    else
        EXPECT_EQ(actual.abs_max, expected.abs_max);
    EXPECT_EQ(actual.sum_squares, expected.sum_squares);
    EXPECT_EQ(actual.nonzero, expected.nonzero);
    EXPECT_EQ(actual.to_zero, expected.to_zero);
    EXPECT_EQ(actual.subnormal, expected.subnormal);
    EXPECT_EQ(actual.overflow, expected.overflow);
    EXPECT_EQ(actual.total, expected.total);
    EXPECT_EQ(actual.f16_abs_max, expected.f16_abs_max);
}

}  // namespace kernels::test
