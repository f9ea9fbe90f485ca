#pragma once

#include <optional>

#include "engine/picture.h"
#include "engine/skip_report.h"
#include "train/step_capsule.h"

namespace engine {

/// The images of the report's samples as one picture, in their order, as drawn() lays them out: at
/// most 64, each as it lies in the batch (cropped, flipped), large ones thinned out. Black and
/// white are the smallest and the largest finite value among them; a NaN is black. Nothing for a
/// batch without images or a report without samples.
std::optional<Picture> sample_sheet(const StepCapsule& capsule, const SkipReport& report);

}  // namespace engine
