#pragma once

#include <string>

namespace engine {

/// The program's version, such as "0.1.0": the project's in CMakeLists.txt.
const char* program_version();

/// The version with the commit that the program was built from, "0.1.0 (1a2b3c4d5e6f)"; built
/// outside a git checkout, the version alone.
std::string version_and_commit();

}  // namespace engine
