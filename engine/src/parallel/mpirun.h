#pragma once

#include <string>

namespace engine {

/// The mpirun of PATH; empty if there is none.
std::string find_mpirun();

}  // namespace engine
