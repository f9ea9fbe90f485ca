#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/input_guide.h"
#include "engine/base/message.h"
#include "engine/train/trained_model.h"
#include "train/predict/predictor.h"

namespace engine {

/// A text in a run's vocabulary.
struct PromptTokens {
    std::vector<std::int64_t> ids;
    std::int64_t read = 0;               ///< words or characters of the text, those left out too
    std::vector<std::string> unknown{};  ///< distinct ones that the vocabulary does not have
    bool left_out = false;               ///< it has no <unk> in their place either
};

/// Reads a text as the run read its own; `lowercase`: in lower case. A token that is not in the
/// vocabulary becomes <unk>, or is left out where the vocabulary has none. Throws Error(value) for
/// bytes that are not UTF-8.
PromptTokens prompt_tokens(const InputGuide& guide, bool lowercase, std::string text);

/// A note on the unknown ones; empty if there are none.
Message unknown_note(const InputGuide& guide, const PromptTokens& prompt);

/// TrainedModel::generate(). `lowercase`: the text was read in lower case.
void generate_text(Predictor& predictor, const InputGuide& guide, bool lowercase,
                   const GenerateOptions& options,
                   const std::function<bool(const std::string&)>& take);

/// TrainedModel::fill(). `lowercase`: the text was read in lower case.
std::vector<FilledMask> fill_masks(Predictor& predictor, const InputGuide& guide, bool lowercase,
                                   const std::string& text, std::int64_t most);

}  // namespace engine
