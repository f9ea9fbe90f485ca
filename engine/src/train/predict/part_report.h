#pragma once

#include "engine/train/trained_model.h"
#include "train/predict/predictor.h"

namespace engine {

/// Whether a task of this kind predicts one of the classes of its label.
bool predicts_classes(const std::string& task);

/// TrainedModel::evaluate().
struct EvaluatedRun {
    std::filesystem::path folder;
    const RunConfig& config;
    const std::string& task;
    bool accept_data = false;
    std::filesystem::path results{};  ///< TrainedModel::evaluate()
};
PartReport report_on(Predictor& predictor, const EvaluatedRun& run, const std::string& part,
                     std::size_t hardest, const std::function<bool(double)>& progress);

}  // namespace engine
