#pragma once

#include <cstddef>
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
/// the largest share of the first 100 rows, and in more than half of them. '\0' if there is none.
/// `whole`: the sample is not cut off, so its last row counts.
char find_csv_delimiter(std::string_view sample, bool whole);

/// Whether the file is a table, by its content: UTF-8 text with at least two rows of the same
/// number of fields, above 1. Its name must end in .csv, .tsv, .txt or .data, also with .gz or .xz;
/// of .txt and .data files, at least 80 % of the rows must be even. Reads 64 KiB, or 1 MiB where no
/// two rows fit. False for a file that cannot be read.
bool looks_like_csv(const std::filesystem::path& file);

}  // namespace engine
