#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace engine {

struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
        return std::hash<std::string_view>()(text);
    }
};
using TokenIds = std::unordered_map<std::string, std::int32_t, TextHash, std::equal_to<>>;

/// Makes token ids of one word of a text. Immutable.
class SubwordModel {
public:
    virtual ~SubwordModel() = default;

    /// Appends the ids of a word. Takes no longer than in proportion to its length, but for a
    /// logarithm.
    virtual void encode(std::string_view word, std::vector<std::int32_t>& ids) const = 0;

    const TokenIds& tokens() const { return tokens_; }
    /// The id of what the vocabulary does not have; -1: such characters are left out.
    std::int32_t unknown() const { return unknown_; }

protected:
    explicit SubwordModel(TokenIds tokens) : tokens_(std::move(tokens)) {}
    /// -1: there is no such token.
    std::int32_t find(std::string_view token) const {
        const auto found = tokens_.find(token);
        return found == tokens_.end() ? -1 : found->second;
    }

    TokenIds tokens_;
    std::int32_t unknown_ = -1;
};

/// Byte-pair encoding (Sennrich et al. 2016): merges neighbours in the order in which the merges
/// were learnt, equal ones from the left. `object`: the model of a tokenizer.json. Throws
/// Error(data) for dropout and for merges of tokens that the vocabulary lacks.
std::unique_ptr<SubwordModel> make_bpe_model(const nlohmann::json& object, TokenIds tokens);

/// WordPiece (Schuster and Nakajima 2012): the longest token that a word begins with, then the
/// longest that its rest begins with. A word that cannot be cut so is unknown as a whole.
std::unique_ptr<SubwordModel> make_word_piece_model(const nlohmann::json& object, TokenIds tokens);

}  // namespace engine
