#pragma once

#include "engine/train/trained_model.h"
#include "train/predict/predictor.h"

namespace engine {

/// Whether a task of this kind predicts one of the classes of its label.
bool predicts_classes(const std::string& task);
/// Softmax of a row of scores.
std::vector<double> probabilities_of(const std::vector<double>& scores);
/// Predicted numbers, standardised as the field says, in their original units.
void in_original_units(const FieldSpec& field, std::vector<double>& values);
/// The features of a row. Throws Error(value) for an unknown column, and for a cell that does not
/// fit its column.
void fill_features(std::vector<float>& features, const InputGuide& guide, const InputForm& form,
                   const std::map<std::string, std::string>& row);

/// The ids of a row, below `rows`; 0 where a cell is missing. Throws as fill_features() does.
void fill_ids(std::vector<std::int64_t>& ids, std::int64_t rows, const InputGuide& guide,
              const std::map<std::string, std::string>& row);

/// TrainedModel::evaluate().
struct EvaluatedRun {
    std::filesystem::path folder;
    const RunConfig& config;
    const std::string& task;
    bool accept_data = false;
};
PartReport report_on(Predictor& predictor, const EvaluatedRun& run, const std::string& part,
                     std::size_t hardest, const std::function<bool(double)>& progress);

}  // namespace engine
