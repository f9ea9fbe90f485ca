#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace fuzz {

/// A file in the temporary folder, named by the process and removed at the end.
class ScratchFile {
public:
    explicit ScratchFile(const std::string& kind)
        : path_(std::filesystem::temp_directory_path() /
                ("halftone_fuzz_" + std::to_string(::getpid()) + "_" + kind)) {}
    ~ScratchFile() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    ScratchFile(const ScratchFile&) = delete;
    ScratchFile& operator=(const ScratchFile&) = delete;

    void write(const char* bytes, std::size_t size) const {
        std::ofstream(path_, std::ios::binary).write(bytes, static_cast<std::streamsize>(size));
    }
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

}  // namespace fuzz
