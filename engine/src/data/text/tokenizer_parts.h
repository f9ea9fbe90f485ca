#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

// The parts that a tokenizer.json describes, apart from its model (subword_model.h).

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
