#pragma once

#include <QString>
#include <string>

#include "engine/settings/run_config.h"

namespace engine {
struct RunOrigin;
}

namespace ui {

/// "PyTorch" of "PyTorch 2.15.0".
QString programName(const engine::RunOrigin& origin);

/// A precision's name for people: "AMP FP16".
QString precisionTitle(const std::string& preset);
/// precisionTitle() of the preset, followed by the scaling if it is not the preset's: "AMP FP16, no
/// scaling".
QString precisionTitle(const engine::PrecisionConfig& precision);

/// The model's title; of a network that was read from a file the file's name.
QString modelTitle(const engine::ModelConfig& model);
/// Title of what a run trains: the titles of its data set and model.
QString taskTitle(const engine::RunConfig& config);

}  // namespace ui
