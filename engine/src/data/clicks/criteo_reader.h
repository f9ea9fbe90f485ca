#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "data/byte_reader.h"

namespace engine {

/// A row of Criteo's click logs as it is kept: 160 bytes.
struct CriteoRow {
    static constexpr std::size_t numbers = 13, ids = 26;
    std::int32_t label;
    std::array<float, numbers> dense;  ///< log(1 + max(count, 0)); 0 where it is missing
    std::array<std::int32_t, ids> id;  ///< hash modulo the rows of a table; 0 where it is missing
};
static_assert(sizeof(CriteoRow) == 160);

/// Id of a category, up to 8 hexadecimal digits, in tables of `rows`; -1 if it is none. "" is 0.
std::int32_t criteo_id(std::string_view category, std::int64_t rows);

/// Reads a file of Criteo's format, plain, gzip or xz: lines of a label (0 or 1), 13 whole numbers
/// and 26 categories between tabs, where numbers and categories may be missing. Holds one line at a
/// time. Skips a byte order mark and blank lines at the end. `take` returns false to stop. Throws
/// Error(data) with file and line for any other line, and ReadingStopped.
void read_criteo(const std::filesystem::path& file, std::int64_t table_rows,
                 const ReadOptions& options, const std::function<bool(const CriteoRow&)>& take);

}  // namespace engine
