#pragma once

#include <QRectF>

#include "engine/record/exponent_histogram.h"

namespace ui {

/// Exponents as places: bin e covers [e, e + 1).
struct ExponentAxis {
    double left = 0;
    double right = 1;

    static constexpr int first = engine::ExponentHistogram::first_exponent;
    static constexpr int last = engine::ExponentHistogram::last_exponent + 1;
    double x(double exponent) const {
        return left + (right - left) * (exponent - first) / (last - first);
    }
    double exponent(double at) const {
        return first + (at - left) / (right - left) * (last - first);
    }
};

/// Limits of a format as exponents: where values become 0, where they lose digits, and where they
/// overflow.
struct FormatLimits {
    double zero;
    double subnormal;
    double overflow;
};
FormatLimits limitsOf(const engine::NumberFormat& format);

}  // namespace ui
