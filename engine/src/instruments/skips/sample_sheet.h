#pragma once

#include <optional>

#include "engine/instruments/skip_report.h"
#include "engine/io/picture.h"
#include "train/run/step_capsule.h"

namespace engine {

/// The images of the report's samples as one picture, in their order, laid out as by drawn(): at
/// most 64, each as it is in the batch (cropped, flipped), large ones subsampled. Black and white
/// are the smallest and largest finite values among them; NaN is black. Nothing for a batch without
/// images or a report without samples.
std::optional<Picture> sample_sheet(const StepCapsule& capsule, const SkipReport& report);

}  // namespace engine
