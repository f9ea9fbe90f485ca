#include "engine/number/figure_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace engine {
namespace {

constexpr int usual_digits = 3;
constexpr double min_plain = 1e-4, max_plain = 1e9;

std::string with_decimals(double value, int decimals) {
    char text[48];
    std::snprintf(text, sizeof text, "%.*f", decimals, value);
    return text;
}

std::string with_exponent(double value, int digits) {
    char text[48];
    std::snprintf(text, sizeof text, "%.*e", digits - 1, value);
    return text;
}

/// "9.06·10⁻⁶" of "9.06e-06".
std::string as_power_of_ten(const std::string& text) {
    const std::size_t e = text.find('e');
    return text.substr(0, e) + "·10" + superscript(std::stoi(text.substr(e + 1)));
}

/// Separates the thousands.
std::string grouped(std::string text) {
    const auto first = static_cast<std::ptrdiff_t>(text.starts_with('-'));
    const std::size_t point = text.find('.');
    const auto end = static_cast<std::ptrdiff_t>(std::min(point, text.size()));
    for (auto at = end - 3; at > first; at -= 3) text.insert(static_cast<std::size_t>(at), 1, ',');
    return text;
}

bool is_power_of_two(double value) {
    int exponent = 0;
    return std::isfinite(value) && value > 0 && std::frexp(value, &exponent) == 0.5;
}

/// "≈ " if three digits do not hold the value.
std::string equality(double value) {
    return std::stod(with_exponent(value, usual_digits)) == value ? "" : "≈ ";
}

}  // namespace

std::string superscript(int exponent) {
    constexpr std::string_view digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    std::string out;
    for (const char c : std::to_string(exponent))
        out += c == '-' ? std::string_view("⁻") : digits[c - '0'];
    return out;
}

std::string figure_text(double value, int digits) {
    const double size = std::abs(value);
    if (!std::isfinite(value)) return std::isnan(value) ? "NaN" : value > 0 ? "∞" : "−∞";
    if (size == 0) return "0";
    if (size < min_plain || size >= max_plain)
        return as_power_of_ten(with_exponent(value, digits));
    // The rounded value counts: 9.999 has two digits before its point.
    const double rounded = std::abs(std::stod(with_exponent(value, digits)));
    const int before = static_cast<int>(std::floor(std::log10(rounded))) + 1;
    if (before <= digits) return grouped(with_decimals(value, digits - before));
    // More whole digits than that are rounded away: 13,214 is 13,200.
    const double unit = std::pow(10.0, before - digits);
    return grouped(with_decimals(std::round(value / unit) * unit, 0));
}

std::string short_figure_text(double value, int digits) {
    std::string text = figure_text(value, digits);
    if (text.find('.') == std::string::npos || text.find("·") != std::string::npos) return text;
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text;
}

std::string count_text(std::int64_t value) { return grouped(std::to_string(value)); }

std::string power_text(double value) {
    if (is_power_of_two(value)) return "2" + superscript(std::ilogb(value));
    if (!std::isfinite(value)) return figure_text(value);
    return equality(value) + short_figure_text(value);
}

std::string power_value_text(double value) {
    if (!is_power_of_two(value)) return power_text(value);
    // A whole power is written out as far as it can be read: 2²⁴ = 16,777,216.
    if (value >= 1 && value < max_plain)
        return power_text(value) + " = " + grouped(with_decimals(value, 0));
    const std::string equal = equality(value);
    return power_text(value) + (equal.empty() ? " = " : " ≈ ") + short_figure_text(value);
}

std::string scale_text(double scale) { return scale == 1 ? "1" : power_text(scale); }

std::string scale_limit_text(double value) {
    if (!std::isfinite(value) || value < 1 || is_power_of_two(value)) return power_text(value);
    return power_text(value) + " (≥ 2" + superscript(std::ilogb(value)) + ")";
}

std::string magnitude_text(double magnitude) {
    if (!(magnitude > 0)) return "-";
    return std::isinf(magnitude) ? figure_text(magnitude)
                                 : "2" + superscript(std::ilogb(magnitude));
}

std::string bytes_text(std::int64_t bytes) {
    if (bytes < 1000) return std::to_string(bytes) + " B";
    return estimated_bytes_text(static_cast<double>(bytes));
}

std::string estimated_bytes_text(double bytes) {
    if (bytes < 1000) return std::to_string(static_cast<std::int64_t>(bytes)) + " B";
    const double mega = bytes / 1e6;
    if (mega < 1) return figure_text(mega * 1e3) + " KB";
    return mega < 10'000 ? figure_text(mega) + " MB" : figure_text(mega / 1e3) + " GB";
}

std::string energy_text(double joules) {
    if (joules < 1e3) return figure_text(joules) + " J";
    return joules < 1e6 ? figure_text(joules / 1e3) + " kJ" : figure_text(joules / 1e6) + " MJ";
}

std::string duration_text(double seconds) {
    const long long all = std::llround(std::max(0.0, seconds));
    char text[48];
    if (all < 3600)
        std::snprintf(text, sizeof text, "%lld:%02lld", all / 60, all % 60);
    else
        std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", all / 3600, all / 60 % 60, all % 60);
    return text;
}

}  // namespace engine
