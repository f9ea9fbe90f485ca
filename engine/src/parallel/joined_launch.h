#pragma once

#include <memory>
#include <string>

#include "engine/base/message.h"
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

/// The MPI library of this program.
struct MpiLibrary {
    bool is_built = true;  ///< whether the program was built with MPI
    std::string name{};    ///< with the version: "Open MPI v4.1.4"; empty if there is none
    std::string file{};    ///< of a library that is opened while the program runs
    Message problem{};     ///< why there is none
    Message remedy{};      ///< what to do where workers cannot be started
};

// mpi_absent.cpp defines these in a build without MPI.

/// Initialises MPI and meets the other ranks. Throws Error(device).
std::shared_ptr<JoinedLaunch> join_launch();
MpiLibrary mpi_library();

/// Name and version by MPI itself; there must be a library.
std::string mpi_name();

}  // namespace engine
