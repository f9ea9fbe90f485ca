#pragma once

#include <filesystem>
#include <map>

#include "engine/instruments/skip_report.h"
#include "train/run/step_capsule.h"

namespace engine {

/// The reports that a run's folder keeps, skips/STEP.json, by step. Damaged ones are left out.
std::map<std::int64_t, SkipReport> read_skip_reports(const std::filesystem::path& run_folder);
/// The report, and a picture of its samples as skips/STEP.png where there are images. Throws
/// Error(io).
void keep_examination(const std::filesystem::path& run_folder, const StepCapsule& capsule,
                      const SkipReport& report);
/// Throws Error(io).
void write_skip_report(const std::filesystem::path& run_folder, const SkipReport& report);

}  // namespace engine
