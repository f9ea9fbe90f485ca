#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/network/network.h"
#include "models/model.h"

namespace engine {

/// The data of a network: the inputs of a task's model, and sizes that they give.
NetworkData network_data(const ModelShape& shape, const Options& options);

/// The text, each line with a \n.
std::string joined_lines(const NetworkLines& lines);
/// Throws Error(settings) if the settings have the hash of another text.
void check_network_hash(const ModelConfig& model);

/// The model of a text in the network notation, with its initial weights. Options that are not
/// given have their defaults. `has_file`: the run reads weights from a file, without which a Buffer
/// has no values. Throws Error(settings) with the first fault, and how many there are, if the text
/// does not fit the data.
std::unique_ptr<Model> make_network_model(std::string_view text, const Options& options, const ModelShape& shape,
                                          std::optional<std::int64_t> seed, const Device& device, bool has_file = false);

/// Numbers that the model holds beside its parameters: Buffers of a text and the layers' running
/// statistics. Throws as make_model() does.
double count_fixed_numbers(const ModelConfig& config, const ModelShape& shape);

/// A layer at the end of a network that makes probabilities of its scores.
struct FinalProbabilities {
    std::string layer;     ///< "Softmax", or "Sigmoid" of a click's score
    int line = 0;
    NetworkLines without;  ///< the text with Identity instead
};
/// Nothing: the text does not end in one, or the model is a built-in one.
std::optional<FinalProbabilities> final_probabilities(const ModelConfig& config, const ModelShape& shape);

}  // namespace engine
