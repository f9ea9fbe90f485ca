#include "data/text/tokenizer_parts.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text_utf8.h"
#include "data/text/unicode_text.h"
#include "engine/base/json.h"

namespace engine {
namespace {

/// The fate of the characters at which a text is cut.
enum class Delimiters {
    removed,
    isolated,       ///< each is a word
    contiguous,     ///< each run of them is a word
    merged_before,  ///< each ends the word before it
    merged_after,   ///< each begins the word after it
};

Delimiters parse_delimiters(const json& behavior) {
    const auto name = behavior.get<std::string>();
    if (name == "Removed") return Delimiters::removed;
    if (name == "Isolated") return Delimiters::isolated;
    if (name == "Contiguous") return Delimiters::contiguous;
    if (name == "MergedWithPrevious") return Delimiters::merged_before;
    if (name == "MergedWithNext") return Delimiters::merged_after;
    refuse_tokenizer_part("split behavior", name);
}

/// Collects the pieces of a text, delimiters and what lies between them, and gives words.
class WordCutter {
public:
    WordCutter(std::string_view text, Delimiters delimiters, const WordSink& sink)
        : text_(text), delimiters_(delimiters), sink_(sink) {}

    /// The text from the last delimiter's end to `begin` is a word, [begin, end) a delimiter.
    void delimiter(std::size_t begin, std::size_t end) {
        switch (delimiters_) {
            case Delimiters::removed:
                give(begin);
                from_ = end;
                break;
            case Delimiters::isolated:
                give(begin);
                give(end);
                break;
            case Delimiters::contiguous:
                if (begin != run_end_) give(begin);
                run_end_ = end;
                break;
            case Delimiters::merged_before:
                give(end);
                break;
            case Delimiters::merged_after:
                give(begin);
                break;
        }
    }
    /// A character that is no delimiter.
    void other(std::size_t begin) {
        if (delimiters_ == Delimiters::contiguous && begin == run_end_) give(begin);
    }
    void finish() { give(text_.size()); }

private:
    void give(std::size_t end) {
        if (end > from_) sink_(text_.substr(from_, end - from_));
        from_ = end;
    }

    std::string_view text_;
    Delimiters delimiters_;
    const WordSink& sink_;
    std::size_t from_ = 0;
    std::size_t run_end_ = std::string_view::npos;
};

using CharacterTest = bool (*)(char32_t);

PreTokenizer split_at(CharacterTest test, Delimiters delimiters) {
    return [=](std::string_view text, const WordSink& sink) {
        WordCutter cutter(text, delimiters, sink);
        for (std::string_view left = text; !left.empty();) {
            const std::size_t begin = text.size() - left.size();
            if (test(take_character(left)))
                cutter.delimiter(begin, text.size() - left.size());
            else
                cutter.other(begin);
        }
        cutter.finish();
    };
}

PreTokenizer split_at_text(std::string delimiter, Delimiters delimiters) {
    return [delimiter = std::move(delimiter), delimiters](std::string_view text,
                                                          const WordSink& sink) {
        WordCutter cutter(text, delimiters, sink);
        std::size_t at = 0;
        for (std::size_t found; (found = text.find(delimiter, at)) != std::string_view::npos;) {
            if (found > at) cutter.other(at);
            at = found + delimiter.size();
            cutter.delimiter(found, at);
        }
        if (at < text.size()) cutter.other(at);
        cutter.finish();
    };
}

bool is_bert_punctuation(char32_t c) {
    const bool ascii = (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
                       (c >= '{' && c <= '~');
    return ascii || is_punctuation(c);
}

/// The words between white space, and each sign of punctuation by itself.
void split_bert(std::string_view text, const WordSink& sink) {
    const WordSink unless_blank = [&](std::string_view word) {
        std::string_view rest = word;
        if (!is_white_space(take_character(rest))) sink(word);
    };
    WordCutter cutter(text, Delimiters::isolated, unless_blank);
    for (std::string_view left = text; !left.empty();) {
        const std::size_t begin = text.size() - left.size();
        const char32_t character = take_character(left);
        if (is_white_space(character) || is_bert_punctuation(character))
            cutter.delimiter(begin, text.size() - left.size());
    }
    cutter.finish();
}

/// \w+|[^\w\s]+
void split_whitespace(std::string_view text, const WordSink& sink) {
    enum class Class { space, word, other };
    const auto classify = [](char32_t c) {
        return is_white_space(c) ? Class::space : is_word_character(c) ? Class::word : Class::other;
    };
    std::size_t from = 0;
    Class last = Class::space;
    const auto give = [&](std::size_t end) {
        if (end > from && last != Class::space) sink(text.substr(from, end - from));
        from = end;
    };
    for (std::string_view left = text; !left.empty();) {
        const std::size_t begin = text.size() - left.size();
        const Class now = classify(take_character(left));
        if (now != last) give(begin);
        last = now;
    }
    give(text.size());
}

constexpr char gpt2_expression[] =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// GPT-2's classes of characters.
enum class Gpt2Class : unsigned char { space, letter, number, other };

Gpt2Class gpt2_class(char32_t c) {
    if (c < 0x80) {
        if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') return Gpt2Class::letter;
        if (c >= '0' && c <= '9') return Gpt2Class::number;
        return is_white_space(c) ? Gpt2Class::space : Gpt2Class::other;
    }
    if (is_letter(c)) return Gpt2Class::letter;
    if (is_number(c)) return Gpt2Class::number;
    return is_white_space(c) ? Gpt2Class::space : Gpt2Class::other;
}

/// Cuts a text by gpt2_expression.
class Gpt2Cutter {
public:
    explicit Gpt2Cutter(std::string_view text) : text_(text) {}

    void cut(const WordSink& sink) {
        for (std::size_t at = 0; at < text_.size();) {
            const std::size_t end = word_end(at);
            sink(text_.substr(at, end - at));
            at = end;
        }
    }

private:
    struct Character {
        Gpt2Class kind;
        std::size_t end;
    };

    Character character(std::size_t at) const {
        const auto byte = static_cast<unsigned char>(text_[at]);
        if (byte < 0x80) return {gpt2_class(byte), at + 1};
        std::string_view left = text_.substr(at);
        const char32_t c = take_character(left);
        return {gpt2_class(c), text_.size() - left.size()};
    }

    /// Where a run of one class, of which `end` lies behind the first character, ends.
    std::size_t run_end(Gpt2Class kind, std::size_t end) const {
        while (end < text_.size()) {
            const Character next = character(end);
            if (next.kind != kind) break;
            end = next.end;
        }
        return end;
    }

    /// 0: no ending stands here.
    std::size_t english_ending(std::size_t at) const {
        if (text_[at] != '\'') return 0;
        const std::string_view rest = text_.substr(at + 1);
        for (const std::string_view ending : {"s", "t", "re", "ve", "m", "ll", "d"})
            if (rest.starts_with(ending)) return at + 1 + ending.size();
        return 0;
    }

    std::size_t word_end(std::size_t at) const {
        if (const std::size_t end = english_ending(at)) return end;
        const Character first = character(at);
        if (first.kind != Gpt2Class::space) return run_end(first.kind, first.end);
        if (text_[at] == ' ' && first.end < text_.size()) {
            const Character second = character(first.end);
            if (second.kind != Gpt2Class::space) return run_end(second.kind, second.end);
        }
        return space_end(first.end);
    }

    /// White space before a word leaves its last character to it, if it has another.
    std::size_t space_end(std::size_t end) const {
        std::size_t last = end;  // where the last character of the run begins
        bool several = false;
        while (end < text_.size()) {
            const Character next = character(end);
            if (next.kind != Gpt2Class::space) return several ? last : end;
            last = end;
            end = next.end;
            several = true;
        }
        return end;
    }

    std::string_view text_;
};

void cut_by_gpt2(std::string_view text, const WordSink& sink) { Gpt2Cutter(text).cut(sink); }

std::array<std::string, 256> make_byte_texts() {
    std::array<std::string, 256> texts;
    for (std::size_t i = 0; i < texts.size(); ++i)
        append_utf8(texts[i], byte_character(static_cast<unsigned char>(i)));
    return texts;
}

/// Gives each word in the characters of its bytes.
WordSink in_byte_characters(std::string& out, const WordSink& sink) {
    static const std::array<std::string, 256> texts = make_byte_texts();
    return [&out, &sink](std::string_view word) {
        out.clear();
        for (const char byte : word) out += texts[static_cast<unsigned char>(byte)];
        sink(out);
    };
}

PreTokenizer make_byte_level(const json& object) {
    const bool prefix = object.at("add_prefix_space").get<bool>();
    const bool cuts = object.value("use_regex", true);
    return [=](std::string_view text, const WordSink& sink) {
        std::string word, spaced;
        const WordSink bytes = in_byte_characters(word, sink);
        if (prefix && !text.starts_with(' ')) text = spaced.append(" ").append(text);
        if (cuts)
            cut_by_gpt2(text, bytes);
        else
            bytes(text);
    };
}

PreTokenizer make_split(const json& object) {
    const json& pattern = object.at("pattern");
    const Delimiters delimiters = parse_delimiters(object.at("behavior"));
    const bool invert = object.value("invert", false);
    if (const auto regex = pattern.find("Regex"); regex != pattern.end()) {
        // All of the text matches, so it is cut between the matches and nothing is removed.
        const bool keeps =
            invert ? delimiters == Delimiters::removed : delimiters == Delimiters::isolated;
        if (regex->get<std::string>() == gpt2_expression && keeps) return cut_by_gpt2;
        refuse_tokenizer_part("regular expression", regex->get<std::string>());
    }
    if (invert) refuse_tokenizer_part("pre-tokenizer", "Split (invert)");
    auto text = pattern.at("String").get<std::string>();
    if (text.empty()) refuse_tokenizer_part("pattern", "\"\"");
    return split_at_text(std::move(text), delimiters);
}

/// Each word of `first` is cut by those after it.
PreTokenizer chain(PreTokenizer first, PreTokenizer second) {
    if (!first || !second) return first ? first : second;
    return [first = std::move(first), second = std::move(second)](std::string_view text,
                                                                  const WordSink& sink) {
        first(text, [&](std::string_view word) { second(word, sink); });
    };
}

}  // namespace

PreTokenizer make_pre_tokenizer(const json& object) {
    if (object.is_null()) return {};
    const auto type = object.at("type").get<std::string>();
    if (type == "Sequence") {
        PreTokenizer all;
        for (const json& each : object.at("pretokenizers"))
            all = chain(std::move(all), make_pre_tokenizer(each));
        return all;
    }
    if (type == "BertPreTokenizer") return split_bert;
    if (type == "ByteLevel") return make_byte_level(object);
    if (type == "Whitespace") return split_whitespace;
    if (type == "WhitespaceSplit") return split_at(is_white_space, Delimiters::removed);
    if (type == "Punctuation") {
        return split_at(is_bert_punctuation, object.contains("behavior")
                                                 ? parse_delimiters(object["behavior"])
                                                 : Delimiters::isolated);
    }
    if (type == "Digits") {
        return split_at(is_number, object.at("individual_digits").get<bool>()
                                       ? Delimiters::isolated
                                       : Delimiters::contiguous);
    }
    if (type == "Split") return make_split(object);
    refuse_tokenizer_part("pre-tokenizer", type);
}

char32_t byte_character(unsigned char byte) {
    const auto is_seen = [](int b) {
        return (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
    };
    if (is_seen(byte)) return byte;
    char32_t next = 0x100;
    for (int b = 0; b < byte; ++b) next += is_seen(b) ? 0 : 1;
    return next;
}

}  // namespace engine
