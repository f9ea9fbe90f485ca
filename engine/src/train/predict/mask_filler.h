#pragma once

#include "engine/train/trained_model.h"
#include "train/predict/predictor.h"

namespace engine {

/// TrainedModel::fill(). `lowercase`: the text was read in lower case.
std::vector<FilledMask> fill_masks(Predictor& predictor, const InputGuide& guide, bool lowercase,
                                   const std::string& text, std::int64_t most);

}  // namespace engine
