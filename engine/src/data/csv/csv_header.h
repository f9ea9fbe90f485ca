#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/csv/csv_scan.h"

namespace engine {

/// Whether a row counts the columns, 0, 1, 2, ... or 1, 2, 3, ..., perhaps behind an empty first
/// field.
bool counts_columns(std::span<const std::string> row);
/// How many fields of such a row count.
std::size_t counted_columns(std::span<const std::string> row);

/// Whole numbers at equal, positive distances in neighbouring fields of a first row that are years,
/// or each far from all values of its column.
struct SpacedNumbers {
    std::size_t first = 0, last = 0;  ///< fields
    bool names_columns = false;       ///< they are both
};
/// Nothing unless there are three or more above columns of numbers, and words or nothing beside
/// them.
std::optional<SpacedNumbers> spaced_numbers(std::span<const std::string> first_row,
                                            std::span<const CsvColumnScan> columns);

/// Whether the first row of a table holds names: it counts the columns; or it has years
/// (SpacedNumbers); or a column is numeric
/// below it and a word in it; or no column is numeric, the names differ from each other, and none
/// recurs in its column. `columns` and `recurs` are of the rows below.
bool is_csv_header(std::span<const std::string> first_row, std::span<const CsvColumnScan> columns,
                   const std::vector<bool>& recurs);

/// Fills names and named of `scan` from its header, or numbers the columns if it has none. Throws
/// Error(data) if two columns share a name.
void name_csv_columns(CsvScan& scan, std::span<const std::string> first_row,
                      const std::string& file, std::int64_t line);

}  // namespace engine
