#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/model.h"

namespace engine {

/// Arguments from which a model is made.
struct ModelSetup {
    const TypedOptions& options;
    const ModelShape& shape;
    std::optional<std::int64_t> seed;  ///< nothing: weights are not drawn
    const Device& device;
};

/// Meaning of the first output of a model.
enum class ModelOutput {
    scores,        ///< (rows, outputs)
    token_scores,         ///< (rows * tokens, outputs): after each token of a window, the next one's
    masked_token_scores,  ///< (rows * tokens, outputs): for each token, read from both sides
    image,                ///< (rows, C, H, W), of an image
    generated,            ///< (rows, C, H, W), of random numbers: an AdversarialModel
    click_scores,         ///< (rows, 1): the logit of a click
};

/// A kind of model: the only place that knows it (decisions.md#descriptor, D16).
struct ModelDescriptor {
    std::string kind;               ///< as in RunConfig
    std::string title;              ///< "ResNet-18"
    std::string summary;            ///< one sentence
    std::vector<FieldKind> inputs;  ///< that its first input may be
    ModelOutput output = ModelOutput::scores;
    std::vector<OptionSpec> options = {};
    /// Rows of token_scores are those of the first time step, then of the second; else sample after
    /// sample.
    bool steps_first = false;
    bool second_derivative = false;  ///< all of its operations have one (gradient_penalty)
    bool has_blocks = false;         ///< that can be computed again (recompute)
    std::unique_ptr<Model> (*make)(const ModelSetup& setup) = nullptr;

    bool takes(FieldKind kind) const;
};

/// All kinds, in the order in which they are offered.
std::span<const ModelDescriptor> model_descriptors();
/// Throws Error(settings) if there is no such kind.
const ModelDescriptor& model_descriptor(const std::string& kind);

}  // namespace engine
