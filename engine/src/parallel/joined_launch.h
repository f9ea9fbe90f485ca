#pragma once

#include <memory>
#include <string>

#include "parallel/communicator.h"

namespace engine {

/// This process's part in a launch of several ranks.
class JoinedLaunch {
public:
    virtual ~JoinedLaunch() = default;
    /// The first line of this process; further ones are made from it.
    virtual std::shared_ptr<Communicator> first_line() = 0;
    /// Like leave_launch() and speaks_for_ranks() (engine/parallel/launch.h).
    virtual int leave(int exit_code) = 0;
    virtual bool speaks() = 0;
};

// One of two files defines these: mpi_launch.cpp, or mpi_absent.cpp in a build without MPI.

/// Initialises MPI and meets the other ranks. Throws Error(device).
std::shared_ptr<JoinedLaunch> join_launch();
/// Name and version of the MPI library; empty without one.
std::string mpi_library();

}  // namespace engine
