#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "data/text/text_vocabulary.h"
#include "engine/base/options.h"
#include "engine/settings/run_config.h"

namespace engine {

/// Options of the kind `text-words`: min_count, max_words, lowercase, test_share.
std::span<const OptionSpec> text_words_option_specs();

/// Options of the kind `text-chars`: min_count, lowercase, test_share.
std::span<const OptionSpec> text_chars_option_specs();

/// Options of the kind `text-tokens`: tokenizer, special_tokens, test_share.
std::span<const OptionSpec> text_tokens_option_specs();

/// How to read a text: the options of its kind, and a memory limit.
struct TextReading {
    VocabularyRules vocabulary;
    bool lowercase = false;
    double test_share = 0.1;
    std::size_t max_bytes = 0;  ///< limit on the memory of tokens and vocabulary
    /// Vocabulary of a run that reads the text again; empty: it is built.
    std::vector<std::string> given_vocabulary{};
    /// Cuts the text of the kind text-tokens; null: words or characters do.
    std::shared_ptr<const TokenizerPipeline> tokenizer{};
    bool framed_lines = false;
};
/// Reads them from the options of a text configuration of any kind, and the file of a tokenizer.
/// Throws Error(settings) for text-tokens without one, and Error(data) as read_tokenizer() does.
TextReading text_reading(const DatasetConfig& config);

/// A text as token ids: the training part, then the validation part, then the test part. The
/// vocabulary is built from the training part alone, or is the tokenizer's.
struct TextTokens {
    std::vector<std::int32_t> tokens;
    std::int64_t train = 0;  ///< tokens of each part; 0: no such part
    std::int64_t validation = 0;
    std::int64_t test = 0;
    TextVocabulary vocabulary;
    std::vector<Message> warnings;
};

/// Reads the text of config.path and splits it:
/// - a folder: one file for each part (see find_text_files);
/// - a file, or several joined ones: the test part is the last round(test_share * tokens) tokens,
///   the training part is the rest.
/// Then train_limit and test_limit keep the first tokens of these parts. Unless the folder has a
/// validation file, the last round(validation_share * tokens) tokens of the training part become
/// the validation part. A test part of fewer than 2 tokens is left out, with a warning.
///
/// Throws Error(data) for missing or damaged files, for a file without text, for a text that needs
/// more than reading.max_bytes, and for a training or validation file of fewer than 2 tokens.
/// Throws Error(settings) if validation_share or min_count leaves nothing, and ReadingStopped.
TextTokens read_text(const DatasetConfig& config, const TextReading& reading,
                     const std::stop_token& stop = {});

/// Splits generated_text() into characters: 200,000 of part 0 for training and 20,000 of part 1 for
/// testing, or fewer by the limits. validation_share applies as in read_text().
TextTokens read_generated_text(const DatasetConfig& config, std::int64_t seed,
                               const TextReading& reading);

}  // namespace engine
