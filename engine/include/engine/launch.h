#pragma once

#include <memory>

namespace engine {

class Communicator;

/// The line of this process to the others that a launcher (mpirun, srun) has started with it; null
/// where it was started alone. The first call joins the launch. Throws Error(device) where that
/// fails, or where this build cannot.
std::shared_ptr<Communicator> launched_communicator();

}  // namespace engine
