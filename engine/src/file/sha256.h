#pragma once

#include <filesystem>
#include <string>

namespace engine {

/// The SHA-256 of a file's bytes, 64 hexadecimal digits. Throws Error(data) if it cannot be read.
std::string sha256_of(const std::filesystem::path& file);

}  // namespace engine
