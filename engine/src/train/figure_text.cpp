#include "train/figure_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace engine {
namespace {

constexpr int digits = 3;

std::string with_decimals(double value, int decimals) {
    char text[48];
    std::snprintf(text, sizeof text, "%.*f", decimals, value);
    return text;
}

std::string with_exponent(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.*e", digits - 1, value);
    return text;
}

/// With its thousands separated.
std::string whole_text(double value) {
    std::string text = with_decimals(value, 0);
    const auto first = static_cast<std::ptrdiff_t>(text.starts_with('-'));
    for (auto at = std::ssize(text) - 3; at > first; at -= 3)
        text.insert(static_cast<std::size_t>(at), 1, ',');
    return text;
}

}  // namespace

std::string figure_text(double value) {
    const double size = std::abs(value);
    if (!std::isfinite(value)) return std::isnan(value) ? "NaN" : value > 0 ? "∞" : "−∞";
    if (size == 0) return "0";
    if (size < 1e-6 || size >= 1e9) return with_exponent(value);
    // Of the rounded value: 9.999 has two digits before its point.
    const double rounded = std::abs(std::stod(with_exponent(value)));
    const int before = static_cast<int>(std::floor(std::log10(rounded))) + 1;
    if (before <= digits) return with_decimals(value, digits - before);
    // More whole digits than that are rounded away: 13,214 is 13,200.
    const double unit = std::pow(10.0, before - digits);
    return whole_text(std::round(value / unit) * unit);
}

std::string short_figure_text(double value) {
    std::string text = figure_text(value);
    if (text.find('.') == std::string::npos || text.find('e') != std::string::npos) return text;
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text;
}

}  // namespace engine
