#include "data/csv/csv_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/text_utf8.h"

namespace engine {
namespace {

std::string_view without_sign(std::string_view text) {
    if (!text.empty() && (text.front() == '+' || text.front() == '-')) text.remove_prefix(1);
    return text;
}

/// std::from_chars does not say on which side of its range a number lies.
double out_of_double_range(std::string_view digits) {
    const std::size_t exponent = digits.find_first_of("eE");
    const bool small = exponent == std::string_view::npos
                           ? digits.front() == '0' || digits.front() == '.'
                           : digits.substr(exponent + 1).starts_with('-');
    return small ? 0 : std::numeric_limits<double>::infinity();
}

/// False if the text is not a number.
bool parse_double(std::string_view text, double& number) {
    // std::from_chars takes no plus sign, and would take the minus of "+-1" after one was removed.
    if (text.front() == '+') {
        text.remove_prefix(1);
        if (text.empty() || text.front() == '-') return false;
    }
    const char* const end = text.data() + text.size();
    const auto [stop, status] = std::from_chars(text.data(), end, number);
    if (stop != end || status == std::errc::invalid_argument) return false;
    if (status == std::errc::result_out_of_range) number = out_of_double_range(without_sign(text));
    return true;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

std::span<const std::string> usual_missing_words() {
    static const std::array<std::string, 9> words{"NA",   "N/A",  "NaN", "nan", "null",
                                                  "NULL", "None", "?",   "-"};
    return words;
}

CsvValue parse_csv_value(std::string_view field, std::span<const std::string> missing_words) {
    const std::string_view text = trimmed(field);
    if (text.empty() ||
        std::find(missing_words.begin(), missing_words.end(), text) != missing_words.end())
        return {CsvContent::missing};
    double number = 0;
    if (!parse_double(text, number)) return parse_written_number(text);
    if (std::isnan(number)) return {CsvContent::missing};
    const bool beyond_double = is_whole_beyond_double(text);
    if (std::fabs(number) > static_cast<double>(std::numeric_limits<float>::max()))
        return {.content = CsvContent::out_of_range, .beyond_double = beyond_double};
    return {.content = CsvContent::number, .number = number, .beyond_double = beyond_double};
}

bool is_plain_number(std::string_view field) {
    const CsvValue value = parse_csv_value(field);
    return value.content == CsvContent::number && value.plain;
}

std::string shortened(std::string_view text, std::size_t characters) {
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<std::uint8_t>(c);
        const bool begins_character = (byte & 0xC0) != 0x80;
        if (begins_character && characters-- == 0) return out + "…";
        out += byte < 0x20 || byte == 0x7F ? ' ' : c;
    }
    return out;
}

std::string listed(const std::vector<std::string>& names, std::size_t most) {
    std::string out;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) out += ", ";
        if (i == most) return out + "…";
        out += names[i];
    }
    return out;
}

}  // namespace engine
