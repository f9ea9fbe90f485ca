#pragma once

#include <string>
#include <vector>

#include "engine/report.h"

namespace engine {

/// The settings of a run as JSON. Of a run of another program: what that program tells, and the
/// settings that both have (precision, scaler).
std::string shown_settings(const RunSummary& run);

/// The settings in which the runs differ, as far as they have them, under the names that `settings`
/// gives the runs. No rows: there are none.
ReportTable difference_table(const std::vector<ListedRun>& runs,
                             const std::vector<Report::Settings>& settings);

}  // namespace engine
