#include "engine/record/exponent_histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/base/error.h"

namespace engine {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

constexpr std::array<const NumberFormat*, 4> formats = {&fp16_format, &bf16_format,
                                                        &fp8_e4m3_format, &fp8_e5m2_format};

/// Magnitudes [low, high] of a bin, as far as the extremes tell.
struct Range {
    double low, high;
};

Range clipped(const ExponentHistogram& histogram, double low, double high) {
    if (histogram.smallest > 0) low = std::max(low, histogram.smallest);
    if (histogram.largest > 0) high = std::min(high, histogram.largest);
    return {low, high};
}

/// The share of a bin's values that lies below a limit, as if spread evenly over the logarithm.
double share_below(const Range& range, double limit) {
    if (limit <= range.low) return 0;
    if (limit > range.high) return 1;
    if (range.low == 0) return 0;          // open downward: nothing is known of them
    if (std::isinf(range.high)) return 0;  // open upward
    return std::log2(limit / range.low) / std::log2(range.high / range.low);
}

/// Finite non-zero values with a magnitude below the limit.
double count_below(const ExponentHistogram& histogram, double limit) {
    double count = 0;
    const auto add = [&](std::int64_t values, double low, double high) {
        if (values > 0)
            count +=
                static_cast<double>(values) * share_below(clipped(histogram, low, high), limit);
    };
    add(histogram.below, 0, std::ldexp(1.0, ExponentHistogram::first_exponent));
    for (int i = 0; i < ExponentHistogram::bin_count; ++i) {
        const int exponent = ExponentHistogram::first_exponent + i;
        const bool open = exponent == ExponentHistogram::last_exponent;
        add(histogram.bins[static_cast<std::size_t>(i)], std::ldexp(1.0, exponent),
            open ? infinity : std::ldexp(1.0, exponent + 1));
    }
    return count;
}

/// Whether a finite value reaches the magnitude; for certain where the largest is known.
bool any_from(const ExponentHistogram& histogram, double limit) {
    if (histogram.finite_nonzero() == 0) return false;
    if (histogram.largest > 0) return histogram.largest >= limit;
    return count_below(histogram, limit) < static_cast<double>(histogram.finite_nonzero());
}

}  // namespace

std::span<const NumberFormat* const> histogram_formats() { return formats; }

std::int64_t ExponentHistogram::finite_nonzero() const {
    return std::accumulate(bins.begin(), bins.end(), below);
}

std::int64_t ExponentHistogram::total() const { return finite_nonzero() + zero + non_finite(); }

ExponentHistogram& ExponentHistogram::operator+=(const ExponentHistogram& other) {
    const bool has_values = finite_nonzero() != 0, adds_values = other.finite_nonzero() != 0;
    const auto join = [&](double mine, double theirs, auto choose) {
        if (!adds_values) return mine;
        if (!has_values) return theirs;
        return mine > 0 && theirs > 0 ? choose(mine, theirs) : 0.0;
    };
    largest = join(largest, other.largest, [](double a, double b) { return std::max(a, b); });
    smallest = join(smallest, other.smallest, [](double a, double b) { return std::min(a, b); });
    for (std::size_t i = 0; i < bins.size(); ++i) bins[i] += other.bins[i];
    zero += other.zero;
    below += other.below;
    infinite += other.infinite;
    nan += other.nan;
    return *this;
}

std::optional<int> largest_exponent(const ExponentHistogram& histogram) {
    if (histogram.largest > 0) return std::ilogb(histogram.largest);
    const auto found = std::find_if(histogram.bins.rbegin(), histogram.bins.rend(),
                                    [](std::int64_t count) { return count > 0; });
    if (found == histogram.bins.rend() || found == histogram.bins.rbegin()) return std::nullopt;
    return ExponentHistogram::last_exponent - static_cast<int>(found - histogram.bins.rbegin());
}

std::optional<int> smallest_exponent(const ExponentHistogram& histogram) {
    if (histogram.smallest > 0) return std::ilogb(histogram.smallest);
    if (histogram.below > 0) return std::nullopt;
    const auto found = std::find_if(histogram.bins.begin(), histogram.bins.end(),
                                    [](std::int64_t count) { return count > 0; });
    if (found == histogram.bins.end()) return std::nullopt;
    return ExponentHistogram::first_exponent + static_cast<int>(found - histogram.bins.begin());
}

double FormatOutcome::share(double count) const {
    return nonzero > 0 ? count / static_cast<double>(nonzero) : 0;
}

FormatOutcome outcome(const ExponentHistogram& histogram, const NumberFormat& format,
                      double scale) {
    if (!(scale > 0) || !std::isfinite(scale))
        throw Error(ErrorCode::value, msg("the scale must be a positive number, got {}", scale));
    const auto finite = static_cast<double>(histogram.finite_nonzero());
    const double overflow = format.overflow / scale;
    FormatOutcome out;
    out.nonzero = histogram.finite_nonzero() + histogram.non_finite();
    out.zero = count_below(histogram, std::ldexp(1.0, format.last_flushed_exponent) / scale);
    out.subnormal = count_below(histogram, format.smallest_normal / scale) - out.zero;
    out.overflow = static_cast<double>(histogram.non_finite());
    if (any_from(histogram, overflow)) {
        // At least the largest one.
        const double least = histogram.largest > 0 ? 1 : 0;
        out.overflow += std::max(least, finite - count_below(histogram, overflow));
    }
    out.overflows = out.overflow > 0;
    return out;
}

double smallest_scale(const ExponentHistogram& histogram, const NumberFormat& format) {
    const std::int64_t values = histogram.finite_nonzero();
    if (values == 0 || histogram.non_finite() > 0) return not_known;
    std::int64_t kept = 0;
    for (int exponent = ExponentHistogram::last_exponent;
         exponent >= ExponentHistogram::first_exponent; --exponent) {
        kept +=
            histogram.bins[static_cast<std::size_t>(exponent - ExponentHistogram::first_exponent)];
        if (values - kept <= values / 1000)  // 99.9 % in whole numbers
            return std::ldexp(1.0, format.last_flushed_exponent - exponent);
    }
    return not_known;
}

double largest_scale(const ExponentHistogram& histogram, const NumberFormat& format) {
    if (histogram.non_finite() > 0 || histogram.largest <= 0) return not_known;
    return format.largest / histogram.largest;
}

double headroom_up(const ExponentHistogram& histogram, const NumberFormat& format, double scale) {
    return std::log2(largest_scale(histogram, format) / scale);
}

double headroom_down(const ExponentHistogram& histogram, const NumberFormat& format, double scale) {
    return std::log2(scale / smallest_scale(histogram, format));
}

}  // namespace engine
