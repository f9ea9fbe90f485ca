#pragma once

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

#include "engine/base/error.h"

namespace engine {

/// A new folder for temporary files that goes with the object.
class ScratchFolder {
public:
    /// Throws Error(io).
    ScratchFolder() {
        const std::filesystem::path where = std::filesystem::temp_directory_path();
        std::string name = (where / "halftone-replay-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) {
            throw Error(ErrorCode::io, msg("No temporary folder could be made in {}: {}.",
                                           where.string(), std::generic_category().message(errno)));
        }
        path_ = name;
    }
    ~ScratchFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

}  // namespace engine
