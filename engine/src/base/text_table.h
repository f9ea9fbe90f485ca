#pragma once

#include <string>
#include <vector>

namespace engine {

/// One line of a table.
using Cells = std::vector<std::string>;

/// The lines as a table for a terminal: the first `left` columns aligned to the left, the others,
/// which hold numbers, to the right. Every line has the same number of cells, each of which is
/// cleaned (engine/base/plain_text.h): a line break in a name makes no row.
std::string aligned(const std::vector<Cells>& lines, std::size_t left);

/// A number by a printf format for one double; "-" for NaN.
std::string number_text(const char* format, double value);

}  // namespace engine
