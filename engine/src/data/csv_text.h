#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// What one field of a table holds.
enum class CsvContent {
    missing,        ///< empty, NA, N/A, NaN, nan, null, NULL, None, ?, -
    number,         ///< finite as f32
    out_of_range,   ///< infinite, or beyond the range of f32
    decimal_comma,  ///< "1,5": digits with a comma among them
    word,
};

struct CsvValue {
    CsvContent content = CsvContent::missing;
    double number = 0;  ///< of a number; within the range of f32
};

/// Reads a field; spaces and tabs around the value are ignored. Independent of the locale.
CsvValue parse_csv_value(std::string_view field);

/// Without spaces and tabs at both ends.
std::string_view trimmed(std::string_view text);

/// Characters of a field that messages and previews show.
inline constexpr std::size_t most_shown_characters = 80;

/// At most `characters` code points of UTF-8 text, then "…" if there were more. Control characters
/// become spaces, so that the result fits on one line.
std::string shortened(std::string_view text, std::size_t characters = 40);

/// "a, b, c", at most `most` of them, then ", …".
std::string listed(const std::vector<std::string>& names, std::size_t most);

}  // namespace engine
