#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/number/number_format.h"

namespace engine {

/// a and b are rounded to the format, and so is their exact sum or product, once. Throw
/// Error(value) for a format of scales.
double add(const NumberFormat& format, double a, double b);
double multiply(const NumberFormat& format, double a, double b);

/// The accumulator of a sum whose terms have this format, if it has none of its own: FP32 for TF32,
/// which is a format of operands alone; else null.
const NumberFormat* fixed_accumulator(const NumberFormat& format);

/// A sum of equal terms, added one by one to an accumulator that starts at 0 and is rounded after
/// each.
struct SumSettings {
    static constexpr std::int64_t max_terms = 10'000'000;

    double term = 0;         ///< rounded to the format first
    std::int64_t terms = 0;  ///< 0 to max_terms
    const NumberFormat* format = &fp32_format;
    /// Null: the format itself, or its fixed_accumulator().
    const NumberFormat* accumulator = nullptr;
    /// Largest number of points of `curve`, not counting the first and the last; 0: no curve.
    int points = 0;
};

struct SumPoint {
    std::int64_t terms;
    double sum;
};

struct SumResult {
    double term = 0;  ///< as the format stores it
    double sum = 0;   ///< in the accumulator, not rounded to the format
    /// Number of terms after which the sum no longer changes although more follow, none of which is
    /// 0; nothing if each changed it. A sum that has become infinite or NaN has stalled.
    std::optional<std::int64_t> stalls_after;
    std::vector<SumPoint> curve;  ///< terms ascending, from 0 to settings.terms
};

/// Throws Error(value) for a number of terms out of range, for a TF32 accumulator and for formats
/// of scales.
SumResult sum(const SumSettings& settings);

}  // namespace engine
