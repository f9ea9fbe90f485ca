#include "data/text/text_tokenizer.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "base/text_utf8.h"
#include "data/text/text_vocabulary.h"
#include "engine/base/error.h"

namespace engine {
namespace {

/// A longer word is unusual enough for a warning.
constexpr std::size_t long_word_characters = 1000;

/// Where the next white space begins; text.size() if there is none.
std::size_t find_white_space(std::string_view text) {
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto byte = static_cast<std::uint8_t>(text[at]);
        if (byte > ' ' && byte < 0xC2) continue;  // of most texts each byte but the spaces
        if (white_space_at_start(text.substr(at)) > 0) return at;
    }
    return text.size();
}

class WordTokenizer final : public Tokenizer {
public:
    void begin_file(const std::string& name) override {
        file_ = name;
        line_ = 1;
        line_open_ = false;
        longest_ = {};
        unusual_spaces_ = 0;
    }

    void add(std::string_view piece) override {
        if (piece.empty()) return;
        line_open_ = piece.back() != '\n';
        while (!piece.empty()) {
            const std::size_t stop = find_white_space(piece);
            if (stop == piece.size()) return hold(piece);
            end_word(piece.substr(0, stop));
            if (piece[stop] == '\n') end_line();
            piece.remove_prefix(stop);
            const std::size_t bytes = white_space_at_start(piece);
            unusual_spaces_ += bytes > 1 ? 1 : 0;
            piece.remove_prefix(bytes);
        }
    }

    void end_file(std::vector<Message>& warnings) override {
        end_word({});
        if (line_open_) end_line();
        if (longest_.characters > long_word_characters) {
            warnings.push_back(msg("{}, line {}: the longest word has {} characters", file_,
                                   longest_.line, longest_.characters));
        }
        if (unusual_spaces_ > 0)
            warnings.push_back(
                msg("{}: {} no-break or other unusual spaces separate words, as "
                    "spaces do",
                    file_, unusual_spaces_));
    }

    std::size_t vocabulary_bytes() const override { return vocabulary_bytes_; }

    std::vector<std::string> take_names() override {
        numbers_.clear();
        return {std::make_move_iterator(names_.begin()), std::make_move_iterator(names_.end())};
    }

private:
    struct LongWord {
        std::size_t characters = 0;
        std::int64_t line = 0;
    };

    /// Keeps the front of a word that ends in a later piece.
    void hold(std::string_view part) {
        held_.append(part);
        if (held_.size() <= max_word_bytes) return;
        throw Error(
            ErrorCode::data,
            msg("{}, line {}: a word of more than {} MiB", file_, line_, max_word_bytes >> 20),
            msg("Words are separated by white space. Read a text without it with the kind "
                "text-chars."));
    }

    /// Ends the word that `held_` and `rest` make up, if any.
    void end_word(std::string_view rest) {
        if (held_.empty()) {
            add_word(rest);
            return;
        }
        hold(rest);
        add_word(held_);
        held_.clear();
    }

    void add_word(std::string_view word) {
        if (word.empty()) return;
        if (word.size() > long_word_characters) {
            const std::size_t characters = count_characters(word);
            if (characters > longest_.characters) longest_ = {characters, line_};
        }
        tokens_.push_back(number(word));
    }

    void end_line() {
        tokens_.push_back(number(end_of_line_token));
        ++line_;
    }

    std::int32_t number(std::string_view word) {
        const auto found = numbers_.find(word);
        if (found != numbers_.end()) return found->second;
        // About what a string, a node of the map and their blocks of memory take.
        vocabulary_bytes_ += word.size() + 128;
        const auto next = static_cast<std::int32_t>(names_.size());
        numbers_.emplace(names_.emplace_back(word), next);
        return next;
    }

    std::deque<std::string> names_;  // a deque: the keys of the map point into it
    std::unordered_map<std::string_view, std::int32_t> numbers_;
    std::size_t vocabulary_bytes_ = 0;
    std::string held_;
    std::string file_;
    std::int64_t line_ = 1;
    bool line_open_ = false;  // the file's last line has no line end so far
    LongWord longest_;
    std::int64_t unusual_spaces_ = 0;
};

class CharacterTokenizer final : public Tokenizer {
public:
    void begin_file(const std::string&) override {}

    void add(std::string_view piece) override {
        while (!piece.empty()) {
            const char32_t character = take_character(piece);
            std::int32_t& number = numbers_[character];
            if (number < 0) {
                number = static_cast<std::int32_t>(characters_.size());
                characters_.push_back(character);
            }
            tokens_.push_back(number);
        }
    }

    void end_file(std::vector<Message>&) override {}
    std::size_t vocabulary_bytes() const override { return characters_.size() * sizeof(char32_t); }

    std::vector<std::string> take_names() override {
        std::vector<std::string> names;
        for (const char32_t character : characters_) names.push_back(to_utf8(character));
        return names;
    }

private:
    std::vector<std::int32_t> numbers_ = std::vector<std::int32_t>(0x110000, -1);
    std::vector<char32_t> characters_;
};

class PipelineTokenizer final : public Tokenizer {
public:
    PipelineTokenizer(std::shared_ptr<const TokenizerPipeline> pipeline, bool framed_lines,
                      const std::stop_token& stop)
        : pipeline_(std::move(pipeline)),
          frames_(framed_lines ? TokenizerPipeline::Frames::around_lines
                               : TokenizerPipeline::Frames::none),
          stop_(stop) {}

    void begin_file(const std::string& name) override { file_ = name; }
    void add(std::string_view piece) override { text_ += piece; }

    void end_file(std::vector<Message>& warnings) override {
        const std::string text = std::exchange(text_, {});
        const auto encoding = pipeline_->encode(text, frames_, stop_);
        tokens_.insert(tokens_.end(), encoding.ids.begin(), encoding.ids.end());
        if (encoding.unknown.empty()) return;
        warnings.push_back(msg("{}: {} different words are not in the tokenizer's vocabulary: {}",
                               file_, encoding.unknown.size(), first_tokens(encoding.unknown)));
    }

    /// The text that waits becomes tokens and a normalised copy.
    std::size_t vocabulary_bytes() const override { return 3 * text_.size(); }
    std::vector<std::string> take_names() override { return pipeline_->vocabulary(); }

private:
    std::shared_ptr<const TokenizerPipeline> pipeline_;
    TokenizerPipeline::Frames frames_;
    std::stop_token stop_;
    std::string file_, text_;
};

}  // namespace

std::unique_ptr<Tokenizer> make_word_tokenizer() { return std::make_unique<WordTokenizer>(); }

std::unique_ptr<Tokenizer> make_character_tokenizer() {
    return std::make_unique<CharacterTokenizer>();
}

std::unique_ptr<Tokenizer> make_pipeline_tokenizer(
    std::shared_ptr<const TokenizerPipeline> pipeline, bool framed_lines,
    const std::stop_token& stop) {
    return std::make_unique<PipelineTokenizer>(std::move(pipeline), framed_lines, stop);
}

}  // namespace engine
