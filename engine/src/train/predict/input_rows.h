#pragma once

#include <filesystem>

#include "data/input_guide.h"
#include "engine/settings/run_config.h"
#include "engine/train/trained_model.h"

namespace engine {

/// TrainedModel::read_rows(); `config` is that of the run's data set.
InputTable read_input_rows(const std::filesystem::path& file, const InputGuide& guide,
                           const DatasetConfig& config);

}  // namespace engine
