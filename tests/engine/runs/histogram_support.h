#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/record/exponent_histogram.h"

namespace engine::test {

/// Counts by frexp, one value after the other: the reference for the kernels' histograms.
template <typename T>
ExponentHistogram histogram_of(const std::vector<T>& values) {
    ExponentHistogram out;
    for (const T value : values) {
        const double magnitude = std::fabs(static_cast<double>(value));
        if (std::isnan(magnitude)) {
            ++out.nan;
        } else if (std::isinf(magnitude)) {
            ++out.infinite;
        } else if (magnitude == 0) {
            ++out.zero;
        } else {
            int exponent = 0;
            std::frexp(magnitude, &exponent);  // magnitude = m * 2^exponent, m in [0.5, 1)
            const int bin = std::min(exponent - 1, ExponentHistogram::last_exponent) -
                            ExponentHistogram::first_exponent;
            ++(bin < 0 ? out.below : out.bins[static_cast<std::size_t>(bin)]);
            out.largest = std::max(out.largest, magnitude);
            out.smallest = out.smallest > 0 ? std::min(out.smallest, magnitude) : magnitude;
        }
    }
    return out;
}
inline ExponentHistogram histogram_of(const std::vector<float>& values) {
    return histogram_of<float>(values);
}

}  // namespace engine::test
