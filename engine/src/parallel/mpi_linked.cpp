#include "parallel/joined_launch.h"
#include "parallel/mpi_api.h"

namespace engine {

const MpiApi& mpi() {
    static const MpiApi linked = [] {
        MpiApi out;
#define HALFTONE_MPI_FUNCTION(name, symbol) out.name = symbol;
#define HALFTONE_MPI_OBJECT(type, name, value, symbol) out.name = value;
#include "parallel/mpi_api.inc"
        return out;
    }();
    return linked;
}

MpiLibrary mpi_library() {
    return {.name = mpi_name(),
            .remedy = msg("Set workers to 1, or put the mpirun of {} in PATH.", mpi_name())};
}

}  // namespace engine
