#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace engine {

/// Changes a text (valid UTF-8) before it is cut; empty: leaves it as it is.
using TextNormalizer = std::function<void(std::string& text)>;

/// The normalizer that a tokenizer.json describes: BertNormalizer, NFC, NFD, NFKC, NFKD, Lowercase,
/// StripAccents, Strip, Prepend, Replace (of a text), Sequence, or null. Throws Error(data) for
/// another, naming it, and nlohmann's exceptions for a damaged one.
TextNormalizer make_normalizer(const nlohmann::json& object);

/// The text that a Replace looks for: its pattern. Throws Error(data) for a regular expression.
std::string replaced_text(const nlohmann::json& object);
/// Replaces each occurrence of `from` in `text`, from left to right.
void replace_all(std::string& text, std::string_view from, std::string_view to);

/// Throws Error(data): this part of a tokenizer is not supported.
[[noreturn]] void refuse_tokenizer_part(const char* part, const std::string& type);

}  // namespace engine
