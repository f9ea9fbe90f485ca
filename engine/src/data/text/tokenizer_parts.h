#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/text/subword_model.h"

namespace engine {

// The parts that a tokenizer.json describes, apart from its model (subword_model.h).

/// A token that is found in the text before anything else cuts it.
struct AddedToken {
    std::int32_t id = 0;
    std::string content;
    bool single_word = false;  ///< only where no character of a word stands beside it
    bool left_space = false;   ///< takes white space before it
    bool right_space = false;  ///< takes white space behind it
    bool normalized = false;   ///< found in the normalised text, else in the text as it is
    bool special = false;      ///< left out when tokens become text again
};

/// Finds tokens in a text: the first that begins, and of those at one place the longest.
class AddedTokenFinder {
public:
    /// `content`: what is looked for, not empty.
    void add(const AddedToken& token, const std::string& content);

    using Piece = std::function<void(std::string_view piece)>;
    using Token = std::function<void(std::int32_t id)>;
    /// Gives the tokens of `text` and the pieces between them, none of which is empty, in order.
    void split(std::string_view text, const Piece& piece, const Token& token) const;

private:
    struct Form {
        std::int32_t id;
        bool single_word, left_space, right_space;
    };
    /// Null: no token begins here. `size`: its bytes.
    const Form* find(std::string_view text, std::size_t& size) const;

    std::unordered_map<std::string, Form, TextHash, std::equal_to<>> forms_;
    std::array<std::vector<std::size_t>, 256> lengths_;  // by first byte, the longest first
};

/// Changes a text (valid UTF-8) before it is cut; empty: leaves it as it is.
using TextNormalizer = std::function<void(std::string& text)>;

/// The normalizer that a tokenizer.json describes: BertNormalizer, NFC, NFD, NFKC, NFKD, Lowercase,
/// StripAccents, Strip, Prepend, Replace (of a text), Sequence, or null. Throws Error(data) for
/// another, naming it, and nlohmann's exceptions for a damaged one.
TextNormalizer make_normalizer(const nlohmann::json& object);

/// Receives the words of a text, in order. A view lives until the call returns.
using WordSink = std::function<void(std::string_view word)>;
/// Cuts a text (valid UTF-8) into words, none of them empty; empty: the text is one word.
using PreTokenizer = std::function<void(std::string_view text, const WordSink& sink)>;

/// The pre-tokenizer that a tokenizer.json describes: BertPreTokenizer, ByteLevel, Whitespace,
/// WhitespaceSplit, Punctuation, Digits, Split (at a text, or by GPT-2's expression), Sequence, or
/// null. ByteLevel writes each byte as the character that GPT-2 has for it (byte_character). Throws
/// Error(data) for another, naming it, and nlohmann's exceptions for a damaged one.
PreTokenizer make_pre_tokenizer(const nlohmann::json& object);

/// The character that stands for a byte in byte-level vocabularies (Radford et al. 2019): itself if
/// it can be seen in Latin-1, else one from U+0100 on.
char32_t byte_character(unsigned char byte);

/// Changes tokens in place so that they make a text when they are joined.
using TokenDecoder = std::function<void(std::vector<std::string>& tokens)>;

/// The decoder that a tokenizer.json describes: ByteLevel, WordPiece, BPEDecoder, ByteFallback,
/// Fuse, Strip, Replace (of a text), Sequence; null: tokens are joined with spaces between them.
/// Bytes that are not UTF-8 become U+FFFD. Throws Error(data) for another, naming it, and
/// nlohmann's exceptions for a damaged one.
TokenDecoder make_token_decoder(const nlohmann::json& object);

/// The text that a Replace looks for: its pattern. Throws Error(data) for a regular expression.
std::string replaced_text(const nlohmann::json& object);
/// Replaces each occurrence of `from` in `text`, from left to right.
void replace_all(std::string& text, std::string_view from, std::string_view to);

/// Throws Error(data): this part of a tokenizer is not supported.
[[noreturn]] void refuse_tokenizer_part(const char* part, const std::string& type);

}  // namespace engine
