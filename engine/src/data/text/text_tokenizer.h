#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "data/text/tokenizer_pipeline.h"
#include "engine/base/message.h"

namespace engine {

inline constexpr std::string_view end_of_line_token = "<eos>";
inline constexpr std::string_view unknown_token = "<unk>";

/// Cuts text into tokens and numbers them in the order in which they first occur.
class Tokenizer {
public:
    /// A longer word is refused: it is held in memory as a whole.
    static constexpr std::size_t max_word_bytes = std::size_t{16} << 20;

    virtual ~Tokenizer() = default;

    virtual void begin_file(const std::string& name) = 0;
    /// The next piece of the file, valid UTF-8. Throws Error(data) for a word that is too long.
    virtual void add(std::string_view piece) = 0;
    /// Ends an unfinished line. Adds to `warnings` what is odd about the file.
    virtual void end_file(std::vector<Message>& warnings) = 0;
    /// Memory of the distinct tokens, roughly.
    virtual std::size_t vocabulary_bytes() const = 0;
    /// Text of each distinct token, by its number; the tokenizer is empty after it.
    virtual std::vector<std::string> take_names() = 0;

    std::vector<std::int32_t>& tokens() { return tokens_; }

protected:
    std::vector<std::int32_t> tokens_;
};

/// Words between white space (white_space_at_start(): no-break and other unusual spaces separate,
/// too, and end_file() warns of them), and <eos> at the end of each line. A last line without a
/// line end has its <eos> too.
std::unique_ptr<Tokenizer> make_word_tokenizer();

/// Each code point is a token.
std::unique_ptr<Tokenizer> make_character_tokenizer();

/// The tokens of a tokenizer.json, whose ids are the numbers; take_names() is the whole vocabulary.
/// Holds a file until it ends, and end_file() warns of words that the vocabulary lacks.
std::unique_ptr<Tokenizer> make_pipeline_tokenizer(
    std::shared_ptr<const TokenizerPipeline> pipeline, bool framed_lines,
    const std::stop_token& stop);

}  // namespace engine
