#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace engine {

/// Writes a file and makes its folder.
inline void write_text(const std::filesystem::path& file, const std::string& text) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
}

}  // namespace engine
