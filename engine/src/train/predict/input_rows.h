#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "data/input_guide.h"
#include "engine/settings/run_config.h"
#include "engine/train/trained_model.h"

namespace engine {

/// TrainedModel::read_rows(); `config` is that of the run's data set.
InputTable read_input_rows(const std::filesystem::path& file, const InputGuide& guide,
                           const DatasetConfig& config);

/// The features of a row. Throws Error(value) for an unknown column, and for a cell that does not
/// fit its column.
void fill_features(std::vector<float>& features, const InputGuide& guide, const InputForm& form,
                   const std::map<std::string, std::string>& row);
/// The ids of a row, below `rows`; 0 where a cell is missing. Throws as fill_features() does.
void fill_ids(std::vector<std::int64_t>& ids, std::int64_t rows, const InputGuide& guide,
              const std::map<std::string, std::string>& row);

}  // namespace engine
