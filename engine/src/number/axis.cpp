#include "engine/number/axis.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "engine/number/figure_text.h"

namespace engine {
namespace {

/// The largest of 1, 2, 5 times a power of ten that is <= value; the next one up if `up`.
double round_to_125(double value, bool up) {
    const double power = std::pow(10.0, std::floor(std::log10(value)));
    double below = power;
    for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
        if (up && factor * power >= value * (1 - 1e-9)) return factor * power;
        if (factor * power <= value * (1 + 1e-9)) below = factor * power;
    }
    return below;
}

/// 10⁻⁸, 2·10⁻⁸
std::string power_of_ten(double value) {
    const int exponent = static_cast<int>(std::floor(std::log10(std::abs(value)) + 1e-9));
    const double mantissa = value / std::pow(10.0, exponent);
    const std::string power = "10" + superscript(exponent);
    return std::abs(mantissa - 1) < 1e-6 ? power : short_figure_text(mantissa) + "·" + power;
}

/// In as many digits as tell neighbours apart.
std::string value_text(double value, double step = 0) {
    const double size = std::abs(value);
    const int digits =
        step > 0 && size > 0
            ? std::clamp(static_cast<int>(std::ceil(std::log10(size / step))) + 1, 6, 15)
            : 6;
    if (size > 0 && (size < 0.999e-4 || size >= 1e6)) return power_of_ten(value);
    return short_figure_text(value, digits);
}

/// As many decimals as the step has: 62.5, 65 and not 63, 65.
std::string percent_text(double share, double step) {
    int decimals = 0;
    for (step *= 100; decimals < 4 && std::abs(step - std::round(step)) > 1e-6 * step; step *= 10)
        ++decimals;
    const double unit = std::pow(10.0, decimals);
    return short_figure_text(std::round(share * 100 * unit) / unit, 9) + "\u202f%";
}

std::string tick_text(AxisKind kind, double value, double step) {
    switch (kind) {
        case AxisKind::share:
            return percent_text(value, step);
        case AxisKind::bytes:
            return bytes_text(std::llround(value));
        case AxisKind::steps:
            if (step >= 1e5 && value != 0) return short_figure_text(value / 1e6, 9) + "\u2009M";
            return short_figure_text(std::round(value), 9);
        case AxisKind::time:
            return step < 10 ? value_text(value) + "\u202fs" : duration_text(value);
        default:
            return value_text(value, step);
    }
}

double clock_step(double wanted) {
    constexpr double day = 86400;
    if (wanted <= 5) return round_to_125(std::max(wanted, 1e-6), true);
    for (const double step : {10., 15., 20., 30., 60., 120., 300., 600., 900., 1200., 1800., 3600.,
                              7200., 14400., 28800., day})
        if (step >= wanted) return step;
    return std::ceil(wanted / day) * day;
}

std::vector<Axis::Tick> even_ticks(const Axis& axis, int most) {
    const auto [low, high] = axis.range;
    if (!(high > low) || !std::isfinite(high - low)) return {};
    const double wanted = (high - low) / std::clamp(most - 1, 1, 5);
    const bool whole = axis.kind == AxisKind::whole || axis.kind == AxisKind::steps;
    double step =
        axis.kind == AxisKind::time ? clock_step(wanted) : round_to_125(wanted, true);
    if (whole) step = std::max(1.0, step);
    std::vector<Axis::Tick> out;
    const auto last = static_cast<std::int64_t>(std::floor(high / step + 1e-9));
    for (auto i = static_cast<std::int64_t>(std::ceil(low / step - 1e-9)); i <= last; ++i) {
        const double at = static_cast<double>(i) * step;
        out.push_back({at, tick_text(axis.kind, at, step)});
    }
    return out;
}

/// Powers of the base at most `most` of which lie in the range. Multiples of a stride: they stay
/// where they are while the range grows.
std::vector<double> powers(AxisRange range, int base, int most) {
    const double scale = std::log2(base);
    const int low = static_cast<int>(std::ceil(std::log2(range.low) / scale - 1e-9));
    const int high = static_cast<int>(std::floor(std::log2(range.high) / scale + 1e-9));
    int stride = 1;
    while ((high - low) / stride + 1 > most) stride = base == 2 ? 2 * stride : stride + 1;
    std::vector<double> out;
    const int first = static_cast<int>(std::ceil(static_cast<double>(low) / stride)) * stride;
    for (int e = first; e <= high; e += stride) out.push_back(std::pow(base, e));
    return out;
}

std::vector<double> multiples(AxisRange range, std::initializer_list<double> digits) {
    std::vector<double> out;
    for (double power = std::pow(10.0, std::floor(std::log10(range.low))); power <= range.high;
         power *= 10) {
        for (const double digit : digits) {
            const double tick = digit * power;
            if (tick > range.low * (1 - 1e-9) && tick < range.high * (1 + 1e-9))
                out.push_back(tick);
        }
    }
    return out;
}

std::vector<double> decimal_ticks(AxisRange range, int most, bool wide) {
    if (!wide) {
        for (const auto& digits : {std::initializer_list<double>{1, 2, 5}, {1, 3}, {1}}) {
            const auto ticks = multiples(range, digits);
            if (ticks.size() >= 2 && std::ssize(ticks) <= most) return ticks;
        }
    }
    const auto tens = powers(range, 10, most);
    if (tens.size() >= 2) return tens;
    auto fine = multiples(range, {1, 2, 5});
    if (fine.size() > 2) fine.erase(fine.begin() + 1, fine.end() - 1);
    return fine;
}

}  // namespace

double Axis::place(double value) const {
    if (is_log()) return std::log(value / range.low) / std::log(range.high / range.low);
    return (value - range.low) / (range.high - range.low);
}

std::vector<Axis::Tick> Axis::ticks(int most) const {
    most = std::max(most, 2);
    if (!is_log()) return even_ticks(*this, most);
    std::vector<Tick> out;
    if (!(range.low > 0) || !std::isfinite(range.high)) return out;
    const bool wide = std::log10(range.high / range.low) > 4;
    if (kind == AxisKind::log2) {
        for (const double at : powers(range, 2, most)) out.push_back({at, power_text(at)});
    } else {
        for (const double at : decimal_ticks(range, most, wide))
            out.push_back({at, wide ? power_of_ten(at) : value_text(at)});
    }
    return out;
}

Axis round_axis(double low, double high, AxisKind kind) {
    switch (kind) {
        case AxisKind::share:
            return {kind, {0, 1}};
        case AxisKind::log2:
            if (!(high > 0) || !std::isfinite(high)) return {kind, {0x1p8, 0x1p18}};
            if (!(low > 0)) low = high / 1024;
            return {kind, {std::exp2(std::floor(std::log2(low)) - 2),
                           std::exp2(std::ceil(std::log2(high)) + 1)}};
        case AxisKind::log:
            if (!(high > 0) || !std::isfinite(high)) return {kind, {0.1, 5}};
            // Far below the rest a value would flatten the curve; 0 has no place at all.
            low = low > 0 ? std::max(low, high * 1e-12) : high * 1e-6;
            return {kind, {round_to_125(low * 0.999, false), round_to_125(high * 1.001, true)}};
        default:
            break;
    }
    if (!std::isfinite(low) || !std::isfinite(high)) return {kind, {0, 1}};
    // Both axes start at 0 where the data do not go below: lengths can then be compared.
    low = std::min(low, 0.0);
    if (!(high > low)) high = low + 1;
    const double step = round_to_125((high - low) / 5, true);
    return {kind, {std::floor(low / step) * step, std::ceil(high * 1.02 / step) * step}};
}

}  // namespace engine
