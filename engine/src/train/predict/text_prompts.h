#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/input_guide.h"
#include "data/text/tokenizer_pipeline.h"
#include "engine/base/message.h"
#include "engine/train/trained_model.h"
#include "train/predict/predictor.h"

namespace engine {

/// How a run read its text.
struct TextForm {
    const InputGuide& guide;
    bool lowercase = false;                        ///< in lower case
    const TokenizerPipeline* tokenizer = nullptr;  ///< null: by words or characters
};

/// A text in a run's vocabulary.
struct PromptTokens {
    std::vector<std::int64_t> ids;
    std::int64_t read = 0;  ///< words, characters or tokens of the text, those left out too
    std::vector<std::string> unknown{};  ///< distinct ones that the vocabulary does not have
    bool left_out = false;               ///< it has no <unk> in their place either
};

/// Reads a text as the run read its own, but for the special tokens around it. A token that is not
/// in the vocabulary becomes <unk>, or is left out where the vocabulary has none. Throws
/// Error(value) for bytes that are not UTF-8.
PromptTokens prompt_tokens(const TextForm& form, std::string text);

/// A note on the unknown ones; empty if there are none.
Message unknown_note(const TextForm& form, const PromptTokens& prompt);

/// TrainedModel::generate().
void generate_text(Predictor& predictor, const TextForm& form, const GenerateOptions& options,
                   const std::function<bool(const std::string&)>& take);

/// The sign for a masked word in a text: "[MASK]".
std::string mask_name(const Task& task, const InputGuide& guide);
/// TrainedModel::fill().
std::vector<FilledMask> fill_masks(Predictor& predictor, const TextForm& form,
                                   const std::string& text, std::int64_t most);

}  // namespace engine
