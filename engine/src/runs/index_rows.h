#pragma once

#include <string>

#include "engine/runs/run_store.h"
#include "runs/database.h"

namespace engine {

/// Selects the runs with all that read_summary() reads; a condition and an order may follow.
extern const char* const select_runs;
/// A run of the index. Throws DamagedDatabase.
RunSummary read_summary(const Statement& row);
/// The metrics of a run and their values on the test part, as JSON.
std::string metrics_of(const RunSummary& run);

}  // namespace engine
