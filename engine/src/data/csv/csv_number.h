#pragma once

#include <string_view>

#include "data/csv/csv_text.h"

namespace engine {

/// Reads a number as people write it: with a currency in front or a unit behind it ("$5", "45 %",
/// "3 km"), digits in groups of three ("1,200", "1 200", "1'200"), another minus sign (U+2212), or
/// in parentheses for a negative one. `text` has no blanks at its ends. A word if it is none.
CsvValue parse_written_number(std::string_view text);

/// Whether these are the digits of a whole number beyond 2^53, with or without a sign.
bool is_whole_beyond_double(std::string_view digits);

}  // namespace engine
