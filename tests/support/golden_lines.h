#pragma once

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "peer/tensor_file.h"

namespace test_support {

/// The words after the first of each line of golden/NAME that begins with `kind`.
inline std::vector<std::vector<std::string>> golden_lines(const char* name, const std::string& kind) {
    std::istringstream all(peer::unpacked(std::filesystem::path(HALFTONE_GOLDEN_DIR) / name));
    std::vector<std::vector<std::string>> found;
    for (std::string line; std::getline(all, line);) {
        std::istringstream words(line);
        std::string word;
        words >> word;
        if (word != kind) continue;
        auto& rest = found.emplace_back();
        while (words >> word) rest.push_back(word);
    }
    return found;
}

}  // namespace test_support
