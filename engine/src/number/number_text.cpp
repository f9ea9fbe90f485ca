#include "engine/number/number_text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/base/error.h"

namespace engine {
namespace {

constexpr std::size_t max_characters = 1100;  // all digits of any double are 1,076
constexpr int max_exponent = 100'000;         // far beyond every double; larger ones are cut to it

/// Signs and digits as people and this program write them, in ASCII: "−2⁻²⁴" is "-2^-24".
std::string in_ascii(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, char>, 11> raised = {{{"⁻", '-'},
                                                                           {"⁰", '0'},
                                                                           {"¹", '1'},
                                                                           {"²", '2'},
                                                                           {"³", '3'},
                                                                           {"⁴", '4'},
                                                                           {"⁵", '5'},
                                                                           {"⁶", '6'},
                                                                           {"⁷", '7'},
                                                                           {"⁸", '8'},
                                                                           {"⁹", '9'}}};
    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> plain = {
        {{"−", "-"}, {"×", "*"}, {"·", "*"}, {"∞", "inf"}}};
    std::string out;
    bool above = false;
    while (!text.empty()) {
        const auto begins = [&](const auto& each) { return text.starts_with(each.first); };
        if (const auto sign = std::ranges::find_if(plain, begins); sign != plain.end()) {
            out += sign->second;
            text.remove_prefix(sign->first.size());
            above = false;
        } else if (const auto digit = std::ranges::find_if(raised, begins); digit != raised.end()) {
            if (!std::exchange(above, true)) out += '^';
            out += digit->second;
            text.remove_prefix(digit->first.size());
        } else {
            if (text.front() != ' ' && text.front() != '\t' && text.front() != '\r')
                out += static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
            text.remove_prefix(1);
            above = false;
        }
    }
    return out;
}

/// 0.d₁d₂d₃… × 10^exponent, d₁ and the last digit not 0; without digits 0.
struct Decimal {
    std::string digits;
    int exponent = 0;
};

int compare(const Decimal& a, const Decimal& b) {
    if (a.digits.empty() || b.digits.empty())
        return static_cast<int>(!a.digits.empty()) - static_cast<int>(!b.digits.empty());
    if (a.exponent != b.exponent) return a.exponent < b.exponent ? -1 : 1;
    return a.digits.compare(b.digits);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Nothing if it is not "[+-]digits".
std::optional<int> read_exponent(std::string_view text) {
    const bool minus = text.starts_with('-');
    if (minus || text.starts_with('+')) text.remove_prefix(1);
    if (text.empty() || !std::ranges::all_of(text, is_digit)) return std::nullopt;
    int value = 0;
    for (const char c : text) value = std::min(value * 10 + (c - '0'), max_exponent);
    return minus ? -value : value;
}

/// Nothing if it is not "digits[.digits][e[+-]digits]".
std::optional<Decimal> read_decimal(std::string_view text) {
    int exponent = 0;
    if (const auto e = text.find('e'); e != std::string_view::npos) {
        const auto read = read_exponent(text.substr(e + 1));
        if (!read) return std::nullopt;
        exponent = *read;
        text = text.substr(0, e);
    }
    const auto point = std::min(text.find('.'), text.size());
    std::string digits(text.substr(0, point));
    const auto whole = static_cast<int>(digits.size());
    if (point < text.size()) digits += text.substr(point + 1);
    if (digits.empty() || !std::ranges::all_of(digits, is_digit)) return std::nullopt;
    const auto first = digits.find_first_not_of('0');
    if (first == std::string::npos) return Decimal{};
    digits.erase(digits.find_last_not_of('0') + 1);
    return Decimal{digits.substr(first), whole - static_cast<int>(first) + exponent};
}

/// Every digit of a positive finite number.
Decimal to_decimal(double value) {
    constexpr int max_digits = 767;  // of any double
    std::array<char, max_digits + 16> buffer;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                   std::chars_format::scientific, max_digits - 1)
                         .ptr;
    return *read_decimal({buffer.data(), end});
}

/// A positive number next to which `nearest` lies; `side` < 0: below nearest, > 0: above it.
Number cut(double nearest, int side) {
    if (side == 0) return {nearest, true};
    if (std::isinf(nearest)) return {std::numeric_limits<double>::max(), false};
    if (side < 0) nearest = std::nextafter(nearest, 0.0);
    return {std::bit_cast<double>(std::bit_cast<std::uint64_t>(nearest) | 1u), false};
}

std::optional<Number> parse_decimal(std::string_view text) {
    const auto decimal = read_decimal(text);
    if (!decimal) return std::nullopt;
    if (decimal->digits.empty()) return Number{0, true};
    double nearest = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), nearest);
    if (result.ec == std::errc::result_out_of_range || decimal->exponent > 400 ||
        decimal->exponent < -400)
        nearest = decimal->exponent > 0 ? std::numeric_limits<double>::infinity() : 0;
    if (std::isinf(nearest)) return cut(nearest, -1);
    if (nearest == 0) return cut(nearest, 1);
    return cut(nearest, compare(*decimal, to_decimal(nearest)));
}

/// number × 2^exponent.
Number scaled(const Number& number, int exponent) {
    const double value = std::ldexp(number.value, exponent);
    const double back = std::ldexp(value, -exponent);
    if (back == number.value) return {value, number.exact};
    return cut(value, back > number.value ? -1 : 1);
}

/// "2^k" or "10^k".
std::optional<Number> parse_power(std::string_view text) {
    const bool two = text.starts_with("2^");
    if (!two && !text.starts_with("10^")) return std::nullopt;
    const auto exponent = read_exponent(text.substr(two ? 2 : 3));
    if (!exponent) return std::nullopt;
    if (two) return scaled({1, true}, std::clamp(*exponent, -5000, 5000));
    return parse_decimal("1e" + std::to_string(*exponent));
}

/// "m*2^k" or "m*10^k".
std::optional<Number> parse_product(std::string_view text) {
    const auto star = text.find('*');
    const auto factor = text.substr(0, star), power = text.substr(star + 1);
    if (power.starts_with("10^") && factor.find('e') == std::string_view::npos)
        return parse_decimal(std::string(factor) + "e" + std::string(power.substr(3)));
    const auto number = parse_decimal(factor);
    if (!number || !power.starts_with("2^")) return std::nullopt;
    const auto exponent = read_exponent(power.substr(2));
    if (!exponent) return std::nullopt;
    return scaled(*number, std::clamp(*exponent, -5000, 5000));
}

/// "a/b" of numbers that doubles hold and whose quotient's remainder one holds too.
std::optional<Number> parse_quotient(std::string_view text) {
    const auto slash = text.find('/');
    const auto read = [](std::string_view part) {
        const auto power = parse_power(part);
        return power ? power : parse_decimal(part);
    };
    const auto a = read(text.substr(0, slash)), b = read(text.substr(slash + 1));
    if (!a || !b || !a->exact || !b->exact || b->value == 0) return std::nullopt;
    if (a->value == 0) return Number{0, true};
    constexpr int limit = 400;
    if (std::abs(std::ilogb(a->value)) > limit || std::abs(std::ilogb(b->value)) > limit)
        return std::nullopt;
    const double quotient = a->value / b->value;
    const double rest = std::fma(-quotient, b->value, a->value);  // exact
    return cut(quotient, rest < 0 ? -1 : static_cast<int>(rest > 0));
}

/// "1.8p-3".
std::optional<Number> parse_hexadecimal_float(std::string text) {
    // Not every standard library takes the sign that C's printf writes.
    if (const auto plus = text.find("p+"); plus != std::string::npos) text.erase(plus + 1, 1);
    double value = 0;
    const auto result =
        std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::hex);
    if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) return std::nullopt;
    // More digits than a double has would have been rounded: they are refused rather than lost.
    const std::string digits = text.substr(0, text.find('p'));
    if (std::ranges::count_if(digits, [](char c) { return c != '.'; }) > 14) return std::nullopt;
    return Number{value, true};
}

/// Bits of a format: "0x" or "0b" is cut off. Throws where they are too many.
std::optional<Number> parse_bits(std::string_view text, int base, const NumberFormat& format) {
    std::uint64_t bits = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), bits, base);
    if (text.empty() || result.ptr != text.data() + text.size()) return std::nullopt;
    if (result.ec != std::errc{} || bits >> format.width() != 0)
        throw Error(ErrorCode::value, msg("{} has more bits than {}, which has {}.",
                                          (base == 2 ? "0b" : "0x") + std::string(text),
                                          format.title, format.width()));
    return Number{from_bits(format, static_cast<std::uint32_t>(bits)), true};
}

std::optional<Number> parse_magnitude(std::string_view text) {
    if (text == "inf" || text == "infinity")
        return Number{std::numeric_limits<double>::infinity(), true};
    if (text == "nan") return Number{std::numeric_limits<double>::quiet_NaN(), true};
    if (text.starts_with("0x") && text.find('p') != std::string_view::npos)
        return parse_hexadecimal_float(std::string(text.substr(2)));
    if (text.find('*') != std::string_view::npos) return parse_product(text);
    if (text.find('/') != std::string_view::npos) return parse_quotient(text);
    if (const auto power = parse_power(text)) return power;
    return parse_decimal(text);
}

constexpr int digits = std::numeric_limits<double>::digits;

std::optional<double> value_of(const NumberFormat& format,
                               const std::optional<std::uint32_t>& bits) {
    if (!bits) return std::nullopt;
    return from_bits(format, *bits);
}

}  // namespace

Number parse_number(std::string_view text, const NumberFormat& format) {
    if (text.size() > max_characters)
        throw Error(ErrorCode::value, msg("A number of {} characters is too long: at most {}.",
                                          text.size(), max_characters));
    const std::string ascii = in_ascii(text);
    std::string_view rest = ascii;
    std::optional<Number> number;
    if (rest.starts_with("0x") && rest.find('p') == std::string_view::npos) {
        number = parse_bits(rest.substr(2), 16, format);
    } else if (rest.starts_with("0b")) {
        number = parse_bits(rest.substr(2), 2, format);
    } else {
        const bool minus = rest.starts_with('-');
        if (minus || rest.starts_with('+')) rest.remove_prefix(1);
        number = parse_magnitude(rest);
        if (number && minus) number->value = -number->value;
    }
    if (!number)
        throw Error(ErrorCode::value,
                    msg("\"{}\" is not a number: write 0.1, 2^-24, 3*2^-5, 1/3, 0x3c00 (bits), inf "
                        "or nan.",
                        text));
    return *number;
}

std::string exact_decimal(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    std::array<char, 1400> buffer;  // 309 digits before the point, 1074 behind it
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                   std::chars_format::fixed, 1074)
                         .ptr;
    std::string out(buffer.data(), end);
    out.erase(out.find_last_not_of('0') + 1);
    if (out.ends_with('.')) out.pop_back();
    return out;
}

std::string hexadecimal(const NumberFormat& format, std::uint32_t bits) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out = "0x";
    for (int digit = (format.width() + 3) / 4 - 1; digit >= 0; --digit)
        out += digits[bits >> (4 * digit) & 0xfu];
    return out;
}

std::string binary(const NumberFormat& format, std::uint32_t bits) {
    std::string out;
    for (int bit = format.width() - 1; bit >= 0; --bit) {
        out += (bits >> bit & 1u) != 0 ? '1' : '0';
        const bool sign = !format.scale && bit == format.width() - 1;
        if (sign || (bit == format.fraction_bits && bit > 0)) out += ' ';
    }
    return out;
}

StoredNumber stored_bits(const NumberFormat& format, std::uint32_t bits) {
    return {.format = &format,
            .bits = bits,
            .value = from_bits(format, bits),
            .number_class = classify(format, bits),
            .below = value_of(format, next_below(format, bits)),
            .above = value_of(format, next_above(format, bits)),
            .gap = gap(format, bits)};
}

StoredNumber store_number(const NumberFormat& format, const Number& number, bool saturate) {
    StoredNumber out = stored_bits(format, to_bits(format, number.value, saturate));
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
