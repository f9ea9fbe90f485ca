#pragma once

#include <string>

#include "engine/settings/catalog.h"
#include "models/model.h"

namespace engine {

/// Arguments from which a model is made.
struct ModelSetup {
    const TypedOptions& options;
    const ModelShape& shape;
    std::optional<std::int64_t> seed;  ///< nothing: weights are not drawn
    const Device& device;
    const ModelConfig& config;
};

/// Meaning of the first output of a model.
enum class ModelOutput {
    scores,        ///< (rows, outputs)
    token_scores,  ///< (rows * tokens, outputs): after each token of a window, the next one's
    masked_token_scores,  ///< (rows * tokens, outputs): for each token, read from both sides
    image,                ///< (rows, C, H, W), of an image
    generated,            ///< (rows, C, H, W), of random numbers: an AdversarialModel
    click_scores,         ///< (rows, 1): the logit of a click
    detections,           ///< boxes, classes and masks: a DetectionModel
};

/// The kind that the settings choose. Throws Error(settings) if there is no such kind.
std::shared_ptr<const ModelDescriptor> model_descriptor(const ModelConfig& model);

}  // namespace engine
