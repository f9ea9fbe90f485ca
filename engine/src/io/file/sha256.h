#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace engine {

/// The SHA-256 of a file's bytes, 64 hexadecimal digits. Throws Error(data) if it cannot be read.
std::string sha256_of(const std::filesystem::path& file);
std::string sha256_of(std::span<const std::byte> bytes);

}  // namespace engine
