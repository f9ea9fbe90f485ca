#pragma once

#include <filesystem>

#include "runs/database.h"

namespace engine {

/// Makes the tables of a new index, and adds those that an index of an earlier version lacks.
/// Throws Error(io) for an index of a later version of this program, and DamagedDatabase.
void check_schema(Database& database, const std::filesystem::path& path);

}  // namespace engine
