#pragma once

#include <filesystem>
#include <string>

#include "io/file/mapped_file.h"

namespace engine {

/// A regular file to be read, which a person named: links to it are followed. Not open: there is none.
File open_outside_file(const std::filesystem::path& path);

/// A regular file that another file names, in that one's folder. Not open for a link, or a file with
/// several names: they may lead to what the person did not mean.
File open_beside(const std::filesystem::path& path, const std::string& name);

/// Whether the file holds these bytes, which are read.
bool read_at(const File& file, std::int64_t offset, std::int64_t bytes, std::string& out);

}  // namespace engine
