#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "data/csv_options.h"
#include "data/csv_reader.h"
#include "data/csv_text.h"

namespace engine {

/// What to read, and how.
struct CsvSource {
    std::vector<std::filesystem::path> files{};  ///< of one header, read one after the other
    CsvOptions options{};
    std::int64_t most_bytes = 0;  ///< of each file's text, and of the table in memory
    std::stop_token stop{};

    ReadOptions read_options() const { return {static_cast<std::uint64_t>(most_bytes), stop}; }
};

struct CsvPlace {
    std::size_t file = 0;   ///< index in CsvSource::files
    std::int64_t line = 0;  ///< from 1

    auto operator<=>(const CsvPlace&) const = default;
};

/// How often a column holds something, and where first.
struct CsvFinding {
    std::int64_t count = 0;
    CsvPlace first{};
    std::string text{};  ///< of the first, shortened

    void add(CsvPlace place, std::string_view field);
};

/// Statistics of one column over all rows.
struct CsvColumnScan {
    std::int64_t numbers = 0;
    double lowest = 0;
    double highest = 0;
    double mean = 0;            ///< of the numbers
    double squared_offset = 0;  ///< sum of (number - mean)^2
    CsvFinding words, missing, out_of_range, decimal_commas;

    std::int64_t numeric() const { return numbers + out_of_range.count; }
    std::int64_t present() const { return numeric() + words.count + decimal_commas.count; }
    void add(CsvPlace place, std::string_view field);
};

/// What a first pass over the files finds. Holds no column in memory.
struct CsvScan {
    char delimiter = ',';
    bool has_header = false;
    std::vector<std::string> names;  ///< "column 3" where the header has none
    std::vector<bool> named;         ///< by the header
    std::vector<CsvColumnScan> columns;
    std::int64_t rows = 0;                             ///< without headers
    std::vector<std::vector<std::string>> first_rows;  ///< of the first file, shortened

    /// The column as errors show it: "\"age\"", or "3".
    std::string shown(std::size_t column) const;
};

constexpr std::size_t most_first_rows = 50;

/// Finds delimiter and header, and classifies the values of every column. Throws Error(data) for
/// files that are no table, and ReadingStopped.
CsvScan scan_csv(const CsvSource& source);

}  // namespace engine
