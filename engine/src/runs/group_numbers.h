#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/runs/run_store.h"
#include "runs/database.h"

// RunSummary::group_number in the index. A number stays taken when its runs are deleted.
namespace engine {

/// As the run's folder has it, for a history that is read anew; one that another group has is not
/// taken.
void take_group_number(Database& database, const std::string& group, std::int64_t number);
/// A group that has no number gets the next one.
std::int64_t number_of_group(Database& database, const std::string& group);
/// Numbers the groups that have none, such as those of an earlier version, the oldest first. True
/// if one of these runs lacked its number and they have to be read again.
bool number_groups_of(Database& database, const std::vector<RunSummary>& runs);

}  // namespace engine
