#include "instruments/replay/scratch_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "engine/base/error.h"

namespace engine {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "halftone-replay-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
        throw Error(ErrorCode::io, msg("No temporary folder could be made in {}: {}.",
                                       fs::temp_directory_path().string(),
                                       std::generic_category().message(errno)));
    }
    path_ = name;
}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

}  // namespace engine
