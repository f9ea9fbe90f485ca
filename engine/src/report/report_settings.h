#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/report/report.h"

namespace engine {

/// The settings of a run as JSON. For a run of another program: that program's own settings, and
/// those that both have (precision, scaler).
std::string shown_settings(const RunSummary& run);

/// "Spirals" of dataset.kind and "spirals"; the word itself where the setting has no such choice, as
/// of what another program trains.
std::string choice_title(std::string_view path, const std::string& word);

/// The settings in which the runs differ, as far as the runs have them. `settings` gives the names
/// of the runs. No rows: no difference.
ReportTable difference_table(const std::vector<RunSummary>& runs,
                             const std::vector<Report::Settings>& settings);

}  // namespace engine
