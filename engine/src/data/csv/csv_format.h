#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>

namespace engine {

/// The beginning of the unpacked file, at most `bytes`, without a UTF-8 byte order mark. Throws
/// Error(data) as open_packed() does.
std::string csv_sample(const std::filesystem::path& file, std::size_t bytes,
                       const std::stop_token& stop = {});

/// Whether a sample of at most `bytes` reaches the end of its file. A byte order mark may have been
/// removed, so a file of exactly that size counts as cut off.
bool is_whole_csv_sample(std::string_view sample, std::size_t bytes);

/// The delimiter (tab, semicolon, pipe or comma) that gives the same number of fields, above 1, in
/// the largest share of the first 100 rows, and in more than half of them; a space where only
/// blanks do, in more than four of five rows. '\0' if there is none. `whole`: the sample is not cut
/// off, so its last row counts.
char find_csv_delimiter(std::string_view sample, bool whole);

/// Where a table begins in its file.
struct CsvStart {
    char delimiter = '\0';           ///< '\0': none was found
    std::int64_t skipped_lines = 0;  ///< a title, comments, or "sep=;" above the table
};

/// Finds the lines above the table, and its delimiter unless one is given ('\0': none). Skipped are
/// a line "sep=;", lines that begin with #, % or //, and titles: lines that have a single field, or
/// stand above a header and have another number of fields than the table.
CsvStart find_csv_start(std::string_view sample, bool whole, char delimiter);

/// Finds the start of a file's table. Throws Error(data) as open_packed() does, and for files of
/// other programs (xlsx, ods, parquet, ...), naming how to save them as CSV.
CsvStart find_csv_start(const std::filesystem::path& file, char delimiter,
                        const std::stop_token& stop = {});

/// Whether the file is a table, by its content: UTF-8 text with at least two rows of the same
/// number of fields, above 1. Its name must end in .csv, .tsv, .txt or .data, also with .gz, .xz or
/// .zip; of .txt and .data files, at least 80 % of the rows must be even. Reads 64 KiB, or 1 MiB
/// where no two rows fit. False for a file that cannot be read.
bool looks_like_csv(const std::filesystem::path& file);

}  // namespace engine
