#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace engine {

/// Changes tokens in place so that they make a text when they are joined.
using TokenDecoder = std::function<void(std::vector<std::string>& tokens)>;

/// The decoder that a tokenizer.json describes: ByteLevel, WordPiece, BPEDecoder, ByteFallback,
/// Fuse, Strip, Replace (of a text), Sequence; null: tokens are joined with spaces between them.
/// Bytes that are not UTF-8 become U+FFFD. Throws Error(data) for another, naming it, and
/// nlohmann's exceptions for a damaged one.
TokenDecoder make_token_decoder(const nlohmann::json& object);

}  // namespace engine
