#pragma once

#include "engine/train/trained_model.h"
#include "train/predict/predictor.h"

namespace engine {

/// TrainedModel::generate(). `lowercase`: the text was read in lower case.
void generate_text(Predictor& predictor, const InputGuide& guide, bool lowercase,
                   const GenerateOptions& options,
                   const std::function<bool(const std::string&)>& take);

}  // namespace engine
