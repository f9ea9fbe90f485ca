#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Kinds of content of one field of a table.
enum class CsvContent {
    missing,        ///< empty, NaN, or one of the words that stand for a missing value
    number,         ///< finite as f32
    out_of_range,   ///< infinite, or beyond the range of f32
    decimal_comma,  ///< "1,5", "1.234.567": a number that a comma or several points divide
    word,
};

struct CsvValue {
    CsvContent content = CsvContent::missing;
    double number = 0;       ///< of a number; within the range of f32
    bool plain = true;       ///< a number as programs write it; else one of the next four is set
    std::string unit{};      ///< "%", "$" or "km", written with the number
    bool commas = false;     ///< commas group its digits: "1,200"
    bool ambiguous = false;  ///< and could be a decimal comma
    bool marks = false;      ///< blanks, apostrophes or underscores group its digits, another minus
                             ///< sign, or parentheses for a negative number
    /// A whole number beyond 2^53, which a double does not hold exactly.
    bool beyond_double = false;
};

/// The words that count as missing where no others are given, beside the empty field and NaN.
std::span<const std::string> usual_missing_words();

/// Reads a field; spaces and tabs around the value are ignored. Independent of the locale.
CsvValue parse_csv_value(std::string_view field,
                         std::span<const std::string> missing_words = usual_missing_words());

/// Whether the field is a number without a unit or an ending: "1st" and "5 km" are names, too.
bool is_plain_number(std::string_view field);

/// The text without spaces and tabs at both ends.
std::string_view trimmed(std::string_view text);

/// Characters of a field that messages and previews show.
inline constexpr std::size_t max_shown_characters = 80;

/// At most `characters` code points of UTF-8 text, then "…" if there were more. Control characters
/// become spaces, so that the result fits on one line.
std::string shortened(std::string_view text, std::size_t characters = 40);

/// "a, b, c", at most `most` of them, then ", …".
std::string listed(const std::vector<std::string>& names, std::size_t most);

/// Reads a number as people write it: with a currency in front or a unit behind it ("$5", "45 %",
/// "3 km"), digits in groups of three ("1,200", "1 200", "1'200"), another minus sign (U+2212), or
/// in parentheses for a negative one. `text` has no blanks at its ends. A word if it is none.
CsvValue parse_written_number(std::string_view text);

/// Whether these are the digits of a whole number beyond 2^53, with or without a sign.
bool is_whole_beyond_double(std::string_view digits);

}  // namespace engine
