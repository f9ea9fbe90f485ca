#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace engine {

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

}  // namespace engine
