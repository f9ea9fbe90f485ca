#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace engine {

/// Reads the first `most` bytes of a regular file. Returns nothing if it cannot be opened or is no
/// regular file: a FIFO or a device would never end. A read error ends the text early.
std::optional<std::string> read_regular_file(const std::filesystem::path& file, std::size_t most);

/// Reads the last `most` bytes, and is otherwise as read_regular_file().
std::optional<std::string> read_end_of_file(const std::filesystem::path& file, std::size_t most);

}  // namespace engine
