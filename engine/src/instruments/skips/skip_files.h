#pragma once

#include <filesystem>
#include <map>
#include <optional>

#include "engine/instruments/skip_report.h"
#include "engine/io/picture.h"
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

/// The images of the report's samples as one picture, in their order, laid out as by drawn(): at
/// most 64, each as it is in the batch (cropped, flipped), large ones subsampled. Black and white
/// are the smallest and largest finite values among them; NaN is black. Nothing for a batch without
/// images or a report without samples.
std::optional<Picture> sample_sheet(const StepCapsule& capsule, const SkipReport& report);

}  // namespace engine
