#pragma once

#include <mpi.h>

#include <string>

namespace engine {

/// MPI's functions and objects: mpi().isend is MPI_Isend. Use them only through this table, because
/// a build with Open MPI is not linked with it. Numbers and types of mpi.h are used as they are.
struct MpiApi {
#define HALFTONE_MPI_FUNCTION(name, symbol) decltype(&symbol) name = nullptr;
#define HALFTONE_MPI_OBJECT(type, name, value, symbol) type name{};
#include "parallel/mpi_api.inc"
};

/// Throws Error(device) if the library cannot be opened. Any thread.
const MpiApi& mpi();

// One of two files defines mpi(): mpi_linked.cpp, or mpi_api.cpp in a build with Open MPI, which
// opens the library as it does cuDNN's. The following is in the latter.

/// Open MPI's library, which stays open.
struct OpenedMpi {
    MpiApi api;
    std::string file;     ///< as the loader found it; empty if it was not found
    std::string problem;  ///< why `api` cannot be used; empty if it can
};
/// `file`: a path, or a name that the loader looks for.
OpenedMpi open_mpi(const std::string& file);

}  // namespace engine
