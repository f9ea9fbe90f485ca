#pragma once

#include <QString>
#include <string>

#include "engine/run_config.h"

namespace ui {

/// A precision's name for people: "AMP FP16".
QString precisionTitle(const std::string& preset);
/// The same, with the scaling if it is not the preset's: "AMP FP16, no scaling".
QString precisionTitle(const engine::PrecisionConfig& precision);

}  // namespace ui
