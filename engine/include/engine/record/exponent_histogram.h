#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/number/number_format.h"

namespace engine {

/// The formats that a histogram is held against: FP16, BF16, FP8 E4M3 and FP8 E5M2.
std::span<const NumberFormat* const> histogram_formats();

/// How many values of a tensor, or of many, have which magnitude.
struct ExponentHistogram {
    static constexpr int first_exponent = -48;
    static constexpr int last_exponent = 17;
    static constexpr int bin_count = last_exponent - first_exponent + 1;

    /// bins[e - first_exponent]: finite values v with floor(log2|v|) == e; the last bin takes all
    /// larger finite values too.
    std::array<std::int64_t, bin_count> bins{};
    std::int64_t zero = 0;
    std::int64_t below = 0;  ///< not zero, but below 2^first_exponent
    std::int64_t infinite = 0;
    std::int64_t nan = 0;
    /// Largest and smallest magnitude of the finite values that are not zero; 0: not known.
    double largest = 0;
    double smallest = 0;

    std::int64_t total() const;
    /// Finite values that are not zero.
    std::int64_t finite_nonzero() const;
    std::int64_t non_finite() const { return infinite + nan; }
    ExponentHistogram& operator+=(const ExponentHistogram& other);
    bool operator==(const ExponentHistogram&) const = default;
};

/// floor(log2) of the largest and of the smallest finite non-zero value. Nothing if there is none,
/// or if it is in an open bin and its magnitude is unknown.
std::optional<int> largest_exponent(const ExponentHistogram& histogram);
std::optional<int> smallest_exponent(const ExponentHistogram& histogram);

/// How values are represented after multiplication by a scale and rounding to a format.
///
/// A limit within a bin splits it: the bin's values are assumed to be spread evenly over its
/// logarithm, between the smallest and the largest magnitude if these are known. So `zero` and
/// `subnormal` are exact for a scale that is a power of two, except for values of exactly
/// 2^last_flushed_exponent, which count as kept although they round to 0. FP16's overflow begins
/// within a bin (at 65,520): there `overflow` is an estimate, and a rough one within the open bin.
/// Whether anything overflows is exact if the largest magnitude is known.
struct FormatOutcome {
    double zero = 0;       ///< non-zero values that become 0
    double subnormal = 0;  ///< that keep fewer digits
    double overflow = 0;   ///< that are no longer finite, or were not before
    bool overflows = false;
    std::int64_t nonzero = 0;  ///< all of them, infinities and NaN included

    /// `count` as a share of the non-zero values; 0 if there are none.
    double share(double count) const;
};
/// `scale` positive and finite: throws Error(value) otherwise.
FormatOutcome outcome(const ExponentHistogram& histogram, const NumberFormat& format, double scale);

/// The smallest power of two s such that multiplying by it keeps 99.9 % of the finite non-zero
/// values from rounding to 0: their bins reach above 2^last_flushed_exponent / s. NaN without
/// values, if a value was not finite, or if more than 0.1 % lie below the bins.
double smallest_scale(const ExponentHistogram& histogram, const NumberFormat& format);
/// The largest scale at which no value overflows: format.largest / largest. NaN if the largest
/// magnitude is not known: without values, or where one was not finite.
double largest_scale(const ExponentHistogram& histogram, const NumberFormat& format);

/// Headroom in powers of two: how often the scale may double before a value overflows, or halve
/// before more than 0.1 % of the values are lost. Negative: it is beyond the limit. NaN if the
/// limit above is NaN.
double headroom_up(const ExponentHistogram& histogram, const NumberFormat& format, double scale);
double headroom_down(const ExponentHistogram& histogram, const NumberFormat& format, double scale);

}  // namespace engine
