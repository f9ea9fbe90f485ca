#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/csv/csv_options.h"
#include "data/csv/csv_reader.h"
#include "data/csv/csv_text.h"
#include "engine/base/message.h"

namespace engine {

/// The files to read, and how to read them.
struct CsvSource {
    std::vector<std::filesystem::path> files{};  ///< of one header, read one after the other
    CsvOptions options{};
    std::int64_t max_bytes = 0;  ///< of each file's text, and of the table in memory
    std::stop_token stop{};

    ReadOptions read_options() const { return {static_cast<std::uint64_t>(max_bytes), stop}; }
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

/// Different texts of a column and how often each occurs; the first eight by name.
struct CsvTally {
    std::vector<std::pair<std::string, std::int64_t>> texts{};  ///< shortened
    std::int64_t others = 0;                                    ///< occurrences of further ones

    void add(std::string_view text);
    std::int64_t total() const;
};

/// Statistics of one column over all rows.
struct CsvColumnScan {
    std::int64_t numbers = 0;  ///< in any writing
    double lowest = 0;
    double highest = 0;
    double mean = 0;            ///< of the numbers
    double squared_offset = 0;  ///< sum of (number - mean)^2
    CsvFinding words, empty, out_of_range, decimal_commas;
    CsvFinding missing_words;      ///< NA and its like, not empty
    CsvFinding written;            ///< numbers that are not plain
    CsvFinding ambiguous_commas;   ///< numbers whose comma may be a decimal one
    CsvFinding beyond_double;      ///< whole numbers beyond 2^53
    std::int64_t commas = 0;       ///< numbers with a comma between groups
    std::int64_t fractions = 0;    ///< numbers that are not whole
    std::int64_t digit_words = 0;  ///< words with more digits than letters: dates, codes
    CsvTally units;                ///< of the numbers that have one
    CsvTally different_words, different_missing;

    std::int64_t numeric() const { return numbers + out_of_range.count; }
    std::int64_t present() const { return numeric() + words.count + decimal_commas.count; }
    std::int64_t missing() const { return empty.count + missing_words.count; }
    void add(CsvPlace place, std::string_view field, const CsvValue& value);

private:
    void add_number(CsvPlace place, std::string_view field, const CsvValue& value);
};

/// Findings of a first pass over the files. Holds no column in memory.
struct CsvScan {
    char delimiter = ',';
    bool has_header = false;
    std::vector<std::string> names;  ///< "column 3" where the header has none
    std::vector<bool> named;         ///< by the header
    std::vector<CsvColumnScan> columns;
    /// Columns whose values are 0, 1, 2, ... or 1, 2, 3, ... in the order of the rows.
    std::vector<bool> counts_rows;
    std::vector<std::int64_t> skipped_lines;  ///< above the table, by file
    std::size_t min_fields = 0;             ///< a row may lack empty fields at its end
    std::vector<Message> warnings;
    std::int64_t rows = 0;                             ///< without headers
    std::vector<std::vector<std::string>> first_rows;  ///< of the first file, shortened

    /// The column as errors show it: "\"age\"", or "3".
    std::string shown(std::size_t column) const;
};

constexpr std::size_t max_first_rows = 50;

/// The fields of a row as those of `columns` columns: without empty ones behind the last column,
/// and with those that a row of at least `least` fields lacks. Nothing if the row does not fit.
class CsvRowFit {
public:
    CsvRowFit(std::size_t columns, std::size_t least) : columns_(columns), least_(least) {}
    std::optional<std::span<const std::string_view>> fit(std::span<const std::string_view> fields);

private:
    std::size_t columns_, least_;
    std::vector<std::string_view> filled_;
};

/// Finds delimiter and header, and classifies the values of every column. Throws Error(data) for
/// files that are no table, and ReadingStopped.
CsvScan scan_csv(const CsvSource& source);

}  // namespace engine
