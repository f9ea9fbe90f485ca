#pragma once

#include <string>
#include <string_view>

namespace engine {

/// A text as a cell of a CSV file, quoted where CSV asks for it (RFC 4180). A spreadsheet computes
/// a cell that begins with =, +, -, @, a tab or a carriage return as a formula, so such a text gets
/// an apostrophe in front unless `raw`. Numbers are written without this function: their sign
/// stays.
std::string csv_cell(std::string_view text, bool raw = false);

}  // namespace engine
