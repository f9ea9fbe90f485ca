#include "engine/base/error.h"
#include "parallel/joined_launch.h"

namespace engine {

std::shared_ptr<JoinedLaunch> join_launch() {
    throw Error(ErrorCode::device,
                msg("This program is one of several ranks, but it was built without MPI."),
                msg("Build it with HALFTONE_MPI=ON, or start it without mpirun."));
}

MpiLibrary mpi_library() {
    return {.is_built = false,
            .problem = msg("Several workers need MPI, and this program was built without it."),
            .remedy = msg("Set workers to 1, or install Open MPI and build with HALFTONE_MPI=ON.")};
}

}  // namespace engine
