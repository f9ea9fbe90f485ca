#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace engine {

class TokenizerPipeline;

/// The distinct tokens of a text.
struct TextVocabulary {
    bool is_words = true;                ///< else characters
    std::vector<std::string> words;      ///< by token id: a word, or a character in UTF-8
    std::vector<std::int64_t> counts{};  ///< of each in the training part
    std::shared_ptr<const TokenizerPipeline> tokenizer{};  ///< that cut the text; null: none
    bool framed_lines = false;  ///< each line has the tokenizer's special tokens around it

    std::int64_t size() const { return static_cast<std::int64_t>(words.size()); }
};

struct VocabularyRules {
    bool words = true;
    std::int64_t min_count = 1;  ///< in the training part; rarer tokens become <unk>
    std::int64_t max_words = 0;  ///< most frequent words to keep besides <eos> and <unk>; 0: all
};

struct BuiltVocabulary {
    TextVocabulary vocabulary;
    std::int64_t unknown = 0;  ///< tokens after the training part that became <unk>
};

/// The first eight, in quotation marks.
std::string first_tokens(const std::vector<std::string>& tokens);

struct AppliedVocabulary {
    TextVocabulary vocabulary;
    std::vector<std::string> lacking;  ///< tokens of the text that became <unk>
};

/// Renumbers all tokens, which are indices of `names`, by the ids of the vocabulary that a run was
/// trained with, and counts the first `train` of them. Tokens that it lacks become <unk>. Throws
/// Error(data) if there are any and it has no <unk>.
AppliedVocabulary apply_vocabulary(std::vector<std::string> words, bool is_words,
                                   const std::vector<std::string>& names,
                                   std::span<std::int32_t> tokens, std::int64_t train);

/// Builds the vocabulary from the first `train` of `tokens`, which are indices of `names` in order
/// of first occurrence, and renumbers all tokens.
/// - Words keep the order of first occurrence; characters are sorted by code point.
/// - <eos> and <unk> are never dropped. The earlier ones of equally frequent words are kept.
/// - <unk> is appended if a token needs it and the text itself has none.
/// Throws Error(settings) if min_count leaves nothing.
BuiltVocabulary build_vocabulary(const VocabularyRules& rules, std::vector<std::string> names,
                                 std::span<std::int32_t> tokens, std::int64_t train);

}  // namespace engine
