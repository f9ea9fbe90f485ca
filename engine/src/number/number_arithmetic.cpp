#include "engine/number/number_arithmetic.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "engine/base/error.h"

namespace engine {
namespace {

/// a + b if it is exact in double. Otherwise the neighbouring double whose last bit is 1 (round to
/// odd), so that rounding it to a narrower format rounds the exact sum once.
double odd_sum(double a, double b) {
    const double sum = a + b;
    if (!std::isfinite(sum)) return sum;
    // Knuth's exact error of the addition, for any order of magnitudes.
    const double b_part = sum - a;
    const double error = (a - (sum - b_part)) + (b - b_part);
    auto bits = std::bit_cast<std::uint64_t>(sum);
    if (error == 0 || (bits & 1u) != 0) return sum;
    // The sum is even and inexact: the exact sum lies between it and an odd neighbour.
    bits = (error > 0) == (sum > 0) ? bits + 1 : bits - 1;
    return std::bit_cast<double>(bits);
}

const NumberFormat& accumulator_format(const SumSettings& settings) {
    if (settings.accumulator != nullptr) return *settings.accumulator;
    const NumberFormat* fixed = fixed_accumulator(*settings.format);
    return fixed != nullptr ? *fixed : *settings.format;
}

void check(const NumberFormat& format) {
    if (format.scale)
        throw Error(ErrorCode::value,
                    msg("{} holds scales alone: it has neither sums nor products.", format.title));
}

void check(const SumSettings& settings) {
    check(*settings.format);
    check(accumulator_format(settings));
    if (settings.terms < 0 || settings.terms > SumSettings::max_terms)
        throw Error(ErrorCode::value, msg("A sum has 0 to {} terms, not {}.",
                                          SumSettings::max_terms, settings.terms));
    if (fixed_accumulator(accumulator_format(settings)) != nullptr)
        throw Error(ErrorCode::value,
                    msg("TF32 cannot be the accumulator: its products are added in FP32."));
}

}  // namespace

double add(const NumberFormat& format, double a, double b) {
    check(format);
    return rounded(format, odd_sum(rounded(format, a), rounded(format, b)));
}

double multiply(const NumberFormat& format, double a, double b) {
    check(format);
    return rounded(format, rounded(format, a) * rounded(format, b));  // 48 bits: exact in double
}

const NumberFormat* fixed_accumulator(const NumberFormat& format) {
    return format.kind == FormatKind::tf32 ? &fp32_format : nullptr;
}

SumResult sum(const SumSettings& settings) {
    check(settings);
    const NumberFormat& accumulator = accumulator_format(settings);
    SumResult out;
    out.term = rounded(*settings.format, settings.term);
    const std::int64_t stride =
        settings.points > 0 ? std::max<std::int64_t>(1, settings.terms / settings.points) : 0;
    const auto keep = [&](std::int64_t terms) {
        if (stride != 0) out.curve.push_back({terms, out.sum});
    };
    keep(0);
    std::uint32_t bits = to_bits(accumulator, 0);
    for (std::int64_t i = 1; i <= settings.terms; ++i) {
        const std::uint32_t next = to_bits(accumulator, odd_sum(out.sum, out.term));
        // Same state and same term: nothing changes from here on.
        if (next == bits) {
            if (out.term != 0) out.stalls_after = i - 1;
            break;
        }
        bits = next;
        out.sum = from_bits(accumulator, bits);
        if (stride != 0 && i % stride == 0 && i != settings.terms) keep(i);
    }
    if (out.stalls_after && *out.stalls_after > 0 && !out.curve.empty() &&
        out.curve.back().terms != *out.stalls_after)
        keep(*out.stalls_after);
    if (settings.terms > 0) keep(settings.terms);
    return out;
}

}  // namespace engine
