#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/runs/run_store.h"
#include "runs/database.h"

namespace engine {

/// Makes the tables of a new index, and adds those that an index of an earlier version lacks.
/// Throws Error(io) for an index of a later version of this program, and DamagedDatabase.
void check_schema(Database& database, const std::filesystem::path& path);

/// Selects the runs with all that read_summary() reads; a condition and an order may follow.
extern const char* const select_runs;
/// A run of the index. Throws DamagedDatabase.
RunSummary read_summary(const Statement& row);
/// The metrics of a run and their values on the test part, as JSON.
std::string metrics_of(const RunSummary& run);

// RunSummary::group_number in the index. A number stays taken when its runs are deleted.

/// As the run's folder has it, for a history that is read anew; one that another group has is not
/// taken.
void take_group_number(Database& database, const std::string& group, std::int64_t number);
/// A group that has no number gets the next one.
std::int64_t number_of_group(Database& database, const std::string& group);
/// Numbers the groups that have none, such as those of an earlier version, the oldest first. True
/// if one of these runs lacked its number and they have to be read again.
bool assign_group_numbers(Database& database, const std::vector<RunSummary>& runs);

}  // namespace engine
