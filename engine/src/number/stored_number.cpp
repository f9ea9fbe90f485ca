#include "engine/number/stored_number.h"

#include <cmath>
#include <limits>

namespace engine {
namespace {

constexpr int digits = std::numeric_limits<double>::digits;

std::optional<double> value_of(const NumberFormat& format,
                               const std::optional<std::uint32_t>& bits) {
    if (!bits) return std::nullopt;
    return from_bits(format, *bits);
}

}  // namespace

StoredNumber stored_bits(const NumberFormat& format, std::uint32_t bits) {
    return {.format = &format,
            .bits = bits,
            .value = from_bits(format, bits),
            .number_class = classify(format, bits),
            .below = value_of(format, next_below(format, bits)),
            .above = value_of(format, next_above(format, bits)),
            .gap = gap(format, bits)};
}

StoredNumber store_number(const NumberFormat& format, const Number& number) {
    StoredNumber out = stored_bits(format, to_bits(format, number.value));
    out.error = std::isfinite(number.value) && std::isfinite(out.value)
                    ? out.value - number.value
                    : std::numeric_limits<double>::quiet_NaN();
    out.relative_error = out.error == 0 ? 0 : out.error / std::fabs(number.value);
    return out;
}

std::string dropped_bits(const NumberFormat& format, const Number& number, int count) {
    const double magnitude = std::fabs(number.value);
    if (!std::isfinite(rounded(format, number.value))) return {};
    if (magnitude == 0) return std::string(static_cast<std::size_t>(count), '0');
    const int exponent = std::ilogb(magnitude);
    // All digits of the double, the lowest of weight 2^lowest. std::ilogb knows subnormals.
    const int lowest = exponent - digits + 1;
    const auto significand = static_cast<std::uint64_t>(std::ldexp(magnitude, -lowest));
    const int last_place =
        std::max(exponent, std::ilogb(format.smallest_normal)) - format.fraction_bits;
    std::string out;
    for (int i = 1; i <= count; ++i) {
        const int at = last_place - i - lowest;
        out += at >= 0 && at < digits && (significand >> at & 1u) != 0 ? '1' : '0';
    }
    return out;
}

}  // namespace engine
