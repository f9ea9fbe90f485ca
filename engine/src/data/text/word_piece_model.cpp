#include <algorithm>
#include <utility>

#include "base/text_utf8.h"
#include "data/text/subword_model.h"
#include "engine/base/error.h"
#include "engine/base/json.h"

namespace engine {
namespace {

class WordPieceModel final : public SubwordModel {
public:
    WordPieceModel(const json& object, TokenIds tokens)
        : SubwordModel(std::move(tokens)),
          prefix_(object.at("continuing_subword_prefix").get<std::string>()),
          longest_word_(object.at("max_input_chars_per_word").get<std::size_t>()) {
        const auto name = object.at("unk_token").get<std::string>();
        unknown_ = find(name);
        if (unknown_ < 0)
            throw Error(ErrorCode::data,
                        msg("the tokenizer's vocabulary lacks the token {} that it uses", name));
        for (const auto& [token, id] : tokens_)
            longest_token_ = std::max(longest_token_, token.size());
    }

    void encode(std::string_view word, std::vector<std::int32_t>& ids) const override {
        const std::size_t before = ids.size();
        bool known = count_characters(word) <= longest_word_;
        std::string text;
        for (std::size_t at = 0; known && at < word.size();) {
            text = at == 0 ? "" : prefix_;
            const std::size_t room = longest_token_ - std::min(text.size(), longest_token_);
            text += word.substr(at, room);
            if (at + room < word.size()) text.resize(whole_characters(text));
            const std::size_t taken = take_longest(text, at == 0 ? 0 : prefix_.size(), ids);
            known = taken > 0;
            at += taken;
        }
        if (known) return;
        ids.resize(before);
        ids.push_back(unknown_);
    }

private:
    /// Appends the longest token that `text` begins with, which must be longer than its first
    /// `prefix` bytes. Returns the bytes that it has behind them; 0: there is none.
    std::size_t take_longest(std::string& text, std::size_t prefix,
                             std::vector<std::int32_t>& ids) const {
        while (text.size() > prefix) {
            if (const std::int32_t id = find(text); id >= 0) {
                ids.push_back(id);
                return text.size() - prefix;
            }
            text.pop_back();
            text.resize(whole_characters(text));
        }
        return 0;
    }

    std::string prefix_;
    std::size_t longest_word_;       // characters
    std::size_t longest_token_ = 1;  // bytes
};

}  // namespace

std::unique_ptr<SubwordModel> make_word_piece_model(const json& object, TokenIds tokens) {
    return std::make_unique<WordPieceModel>(object, std::move(tokens));
}

}  // namespace engine
