#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

#include "data/byte_reader.h"

namespace engine {

/// A row of a CSV file. The fields are valid until the visitor returns.
struct CsvRow {
    std::int64_t line = 0;  ///< on which the row begins, from 1, as a text editor counts
    std::span<const std::string_view> fields;
};

constexpr std::size_t max_csv_columns = 10000;
constexpr std::size_t max_csv_row = std::size_t{16} << 20;  ///< bytes

/// Calls `visit` for each row of a packed or plain file until it returns false. Holds one row at a
/// time. Skips the first `skipped_lines` lines, blank lines and a UTF-8 byte order mark. With a
/// space as the delimiter, blanks of any length stand between two fields. Quoting follows RFC 4180;
/// unquoted fields lose the spaces around them. Throws Error(data) with the line for malformed
/// rows, text that is not UTF-8, NUL bytes, and rows beyond the limits above.
void read_csv_rows(const std::filesystem::path& file, char delimiter, const ReadOptions& options,
                   const std::function<bool(const CsvRow&)>& visit, std::int64_t skipped_lines = 0);

}  // namespace engine
