#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "data/byte_reader.h"

namespace engine {

/// The only file in a zip archive, unpacked on demand. Folders, and what macOS and Windows leave in
/// archives, do not count. Throws Error(data) for an archive with none or several, or a damaged
/// one.
std::unique_ptr<ByteReader> open_zip_file(const std::filesystem::path& archive);

/// Its name without folders. Throws as open_zip_file() does.
std::string name_in_zip(const std::filesystem::path& archive);

}  // namespace engine
