#include "engine/base/error.h"
#include "parallel/joined_launch.h"

namespace engine {

std::shared_ptr<JoinedLaunch> join_launch() {
    throw Error(ErrorCode::device,
                msg("This program is one of several ranks, but it was built without MPI."),
                msg("Build it with HALFTONE_MPI=ON, or start it without mpirun."));
}

std::string mpi_library() { return {}; }

}  // namespace engine
