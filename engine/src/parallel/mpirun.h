#pragma once

#include <array>
#include <string>
#include <string_view>

namespace engine {

/// The mpirun of PATH that belongs to an MPI library (its name in mpi_library()), as far as its
/// name says so: the first folder with an mpirun decides. Empty if there is none.
std::string find_mpirun(std::string_view library);

/// Whether a run that mpirun starts stays on this machine: no batch system and no list of hosts
/// that the user has named gives it others.
bool stays_on_this_machine();

/// A network of this process and its children alone, which has only the loopback interface: what
/// mpirun and the ranks open cannot be reached from other machines, nor from other programs of this
/// one. The launchers listen on all interfaces, whatever their options say.
class OwnNetwork {
public:
    /// To be made before the fork: enter() allocates nothing.
    OwnNetwork();
    /// In the child, before it becomes another program. False where the system does not allow it;
    /// nothing has changed then.
    bool enter() const;

private:
    std::array<char, 64> users_{}, groups_{};  ///< this user keeps its number
};

}  // namespace engine
