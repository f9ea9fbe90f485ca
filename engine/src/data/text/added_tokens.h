#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/text/subword_model.h"

namespace engine {

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

}  // namespace engine
