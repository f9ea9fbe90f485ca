#pragma once

#include <QString>
#include <string>

#include "engine/run_config.h"

namespace ui {

class RunTrack;

/// A precision's name for people: "AMP FP16".
QString precisionTitle(const std::string& preset);
/// The same, with the scaling if it is not the preset's: "AMP FP16, no scaling".
QString precisionTitle(const engine::PrecisionConfig& precision);
/// A run's name on screen: its precision, and its tag where that is not enough.
QString trackTitle(const RunTrack& track);

}  // namespace ui
