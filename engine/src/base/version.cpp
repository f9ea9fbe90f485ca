// A file of its own: each commit compiles it anew, and nothing else.
#include "engine/base/version.h"

#include "commit.h"

namespace engine {

const char* program_version() { return HALFTONE_VERSION; }

std::string version_and_commit() {
    const std::string commit = HALFTONE_COMMIT;
    return commit.empty() ? program_version()
                          : std::string(program_version()) + " (" + commit + ")";
}

}  // namespace engine
