#include "data/text/text_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>

#include "base/text_utf8.h"
#include "data/data_files.h"
#include "data/text/generated_text.h"
#include "data/text/text_files.h"
#include "data/text/text_source.h"
#include "data/text/text_tokenizer.h"
#include "engine/base/error.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t generated_train_size = 200'000;
constexpr std::int64_t generated_test_size = 20'000;
/// A token's target is the next token, so one token alone has none.
constexpr std::int64_t min_tokens = 2;

std::int64_t first_of(std::int64_t size, std::int64_t limit) {
    return limit > 0 ? std::min(size, limit) : size;
}

std::int64_t share_of(std::int64_t size, double share) {
    return std::llround(share * static_cast<double>(size));
}

void check_training_part(const std::string& name, const DatasetConfig& config,
                         const TextTokens& text) {
    if (text.train < min_tokens) {
        throw Error(ErrorCode::data,
                    msg("{}: the training part has fewer than 2 tokens, so there is nothing to "
                        "predict",
                        name),
                    msg("Give a longer text, or hold out a smaller share of it."));
    }
    if (config.validation_share > 0 && text.validation < min_tokens) {
        throw Error(ErrorCode::settings,
                    msg("dataset.validation_share: {}: the validation part would have fewer than 2 "
                        "tokens",
                        config.validation_share),
                    msg("Take a larger share or a longer text."));
    }
}

/// Collects the tokens of one part after another, in the order training, validation, test.
class TextCollector {
public:
    explicit TextCollector(const TextReading& reading, const std::stop_token& stop = {})
        : reading_(reading), tokenizer_(make_tokenizer(reading, stop)) {}

    /// Appends a file, at most `limit` tokens of it. Returns how many.
    std::int64_t add_file(const fs::path& file, std::int64_t limit, const std::stop_token& stop) {
        const std::int64_t before = size();
        TextSource source(file, reading_.lowercase, stop);
        tokenizer_->begin_file(file.string());
        for (auto piece = source.next(); !piece.empty(); piece = source.next()) {
            tokenizer_->add(piece);
            check_memory(file);
            if (limit > 0 && size() - before >= limit) break;
        }
        tokenizer_->end_file(out_.warnings);
        cut(before, limit);
        return size() - before;
    }

    std::int64_t add_text(const std::string& text) {
        const std::int64_t before = size();
        tokenizer_->add(text);
        return size() - before;
    }

    /// Takes the test part from the end of the only text, then limits the rest.
    void split_test(const DatasetConfig& config) {
        const std::int64_t test = share_of(out_.train, reading_.test_share);
        const std::int64_t rest = out_.train - test;
        out_.train = first_of(rest, config.train_limit);
        erase(out_.train, rest);
        out_.test = first_of(test, config.test_limit);
        cut(out_.train, config.test_limit);
    }

    /// Takes the validation part from the end of the training part.
    void split_validation(double share) {
        out_.validation = share_of(out_.train, share);
        out_.train -= out_.validation;
    }

    /// Leaves out a test part that is too short to predict anything.
    void drop_short_test(const std::string& name) {
        if (out_.test >= min_tokens) return;
        erase(size() - std::exchange(out_.test, 0), size());
        out_.warnings.push_back(msg("{}: too short for a test part", name));
    }

    TextTokens finish(const std::string& name) {
        out_.tokens = std::move(tokenizer_->tokens());
        out_.tokens.shrink_to_fit();
        if (reading_.tokenizer) {
            out_.vocabulary = kept_vocabulary();
            return std::move(out_);
        }
        if (!reading_.given_vocabulary.empty()) {
            auto applied = apply_vocabulary(reading_.given_vocabulary, reading_.vocabulary.words,
                                            tokenizer_->take_names(), out_.tokens, out_.train);
            out_.vocabulary = std::move(applied.vocabulary);
            warn_of_lacking(name, applied.lacking);
            return std::move(out_);
        }
        auto built = build_vocabulary(reading_.vocabulary, tokenizer_->take_names(), out_.tokens,
                                      out_.train);
        out_.vocabulary = std::move(built.vocabulary);
        warn_of_unknown(name, built.unknown);
        warn_of_single_token(name);
        warn_of_unusual_spaces(name);
        return std::move(out_);
    }

    TextTokens& parts() { return out_; }

private:
    static std::unique_ptr<Tokenizer> make_tokenizer(const TextReading& reading,
                                                     const std::stop_token& stop) {
        if (reading.tokenizer)
            return make_pipeline_tokenizer(reading.tokenizer, reading.framed_lines, stop);
        return reading.vocabulary.words ? make_word_tokenizer() : make_character_tokenizer();
    }

    /// The tokenizer's vocabulary, whose ids the tokens have.
    TextVocabulary kept_vocabulary() {
        TextVocabulary all{.is_words = true,
                           .words = tokenizer_->take_names(),
                           .tokenizer = reading_.tokenizer,
                           .framed_lines = reading_.framed_lines};
        all.counts.resize(all.words.size());
        for (std::int64_t i = 0; i < out_.train; ++i)
            ++all.counts[static_cast<std::size_t>(out_.tokens[static_cast<std::size_t>(i)])];
        return all;
    }

    std::int64_t size() const { return static_cast<std::int64_t>(tokenizer_->tokens().size()); }

    void erase(std::int64_t from, std::int64_t to) {
        auto& tokens = tokenizer_->tokens();
        tokens.erase(tokens.begin() + from, tokens.begin() + to);
    }

    void cut(std::int64_t begin, std::int64_t limit) {
        if (limit > 0 && size() - begin > limit) erase(begin + limit, size());
    }

    void check_memory(const fs::path& file) const {
        const std::size_t bytes =
            tokenizer_->tokens().size() * sizeof(std::int32_t) + tokenizer_->vocabulary_bytes();
        if (bytes <= reading_.max_bytes) return;
        throw Error(ErrorCode::data,
                    msg("{}: too large: the tokens up to here take more than {} MiB of memory",
                        file.string(), reading_.max_bytes >> 20),
                    msg("Give a shorter text."));
    }

    void warn_of_unknown(const std::string& name, std::int64_t unknown) {
        if (unknown == 0) return;
        const auto total = static_cast<double>(out_.validation + out_.test);
        const double percent = std::round(1e4 * static_cast<double>(unknown) / total) / 100;
        out_.warnings.push_back(
            msg("{}: {} of the {} tokens of the validation and test parts ({} %) are not in the "
                "vocabulary of the training part and became <unk>",
                name, unknown, out_.validation + out_.test, percent));
    }

    void warn_of_lacking(const std::string& name, const std::vector<std::string>& lacking) {
        if (lacking.empty()) return;
        out_.warnings.push_back(
            msg("{}: {} words of the text are not in the vocabulary of the run and became <unk>: "
                "{}",
                name, lacking.size(), first_tokens(lacking)));
    }

    void warn_of_single_token(const std::string& name) {
        const auto& words = out_.vocabulary.words;
        const auto ends = std::count(words.begin(), words.end(), end_of_line_token);
        if (static_cast<std::ptrdiff_t>(words.size()) - ends > 1) return;
        out_.warnings.push_back(
            reading_.vocabulary.words
                ? msg("{}: the training part has a single distinct word", name)
                : msg("{}: the training part has a single distinct character", name));
    }

    /// A reader of the text does not see that they are characters of their own.
    void warn_of_unusual_spaces(const std::string& name) {
        if (reading_.vocabulary.words) return;
        std::string codes;
        for (const std::string& word : out_.vocabulary.words) {
            if (word.size() < 2 || white_space_at_start(word) != word.size()) continue;
            std::string_view text = word;
            std::array<char, 16> code{};
            std::snprintf(code.data(), code.size(), "U+%04X",
                          static_cast<unsigned>(take_character(text)));
            codes += (codes.empty() ? "" : ", ") + std::string(code.data());
        }
        if (codes.empty()) return;
        out_.warnings.push_back(
            msg("{}: has unusual spaces ({}), each a character of its own beside the space", name,
                codes));
    }

    const TextReading& reading_;
    std::unique_ptr<Tokenizer> tokenizer_;
    TextTokens out_;
};

/// One text, split by shares.
TextTokens read_joined(const TextFiles& files, const DatasetConfig& config,
                       const TextReading& reading, const std::stop_token& stop) {
    TextCollector collector(reading, stop);
    for (const auto& file : files.joined)
        collector.parts().train += collector.add_file(file, 0, stop);
    collector.split_test(config);
    collector.split_validation(config.validation_share);
    const std::string name = files.joined.front().string();
    check_training_part(name, config, collector.parts());
    if (reading.test_share > 0) collector.drop_short_test(name);
    return collector.finish(name);
}

/// A file for each part.
TextTokens read_parts(const TextFiles& files, const DatasetConfig& config,
                      const TextReading& reading, const std::stop_token& stop) {
    TextCollector collector(reading, stop);
    TextTokens& parts = collector.parts();
    parts.train = collector.add_file(files.train, config.train_limit, stop);
    if (files.validation.empty()) {
        collector.split_validation(config.validation_share);
    } else {
        parts.validation = collector.add_file(files.validation, 0, stop);
        if (parts.validation < min_tokens) {
            throw Error(ErrorCode::data,
                        msg("{}: fewer than 2 tokens, so there is nothing to predict",
                            files.validation.string()),
                        msg("Give a longer text."));
        }
    }
    const std::string name = files.train.parent_path().string();
    if (files.test.empty()) {
        parts.warnings.push_back(msg("{}: no test text here, so the run has no test part", name));
    } else {
        parts.test = collector.add_file(files.test, config.test_limit, stop);
        collector.drop_short_test(name);
    }
    check_training_part(name, config, parts);
    return collector.finish(name);
}

TextReading tokens_reading(const DatasetConfig& config) {
    const TypedOptions given(config.options, text_tokens_option_specs());
    const std::string file = given.word("tokenizer");
    find_text_files(config.path);  // whose absence is told first
    if (file.empty())
        throw Error(ErrorCode::settings,
                    msg("dataset.tokenizer: choose the tokenizer.json that cuts the text"));
    return {.vocabulary = {},
            .test_share = given.number("test_share"),
            .max_bytes = static_cast<std::size_t>(largest_dataset_bytes()),
            .tokenizer = read_tokenizer(file),
            .framed_lines = given.flag("special_tokens")};
}

}  // namespace

TextReading text_reading(const DatasetConfig& config) {
    if (config.kind == text_tokens_kind) return tokens_reading(config);
    const bool words = config.kind == text_words_kind;
    const TypedOptions given(config.options,
                             words ? text_words_option_specs() : text_chars_option_specs());
    TextReading reading{.vocabulary = {.words = words},
                        .max_bytes = static_cast<std::size_t>(largest_dataset_bytes())};
    if (config.kind == text_generated_kind) return reading;
    reading.vocabulary.min_count = given.integer("min_count");
    if (words) reading.vocabulary.max_words = given.integer("max_words");
    reading.lowercase = given.flag("lowercase");
    reading.test_share = given.number("test_share");
    return reading;
}

TextTokens read_text(const DatasetConfig& config, const TextReading& reading,
                     const std::stop_token& stop) {
    const TextFiles files = find_text_files(config.path);
    return files.joined.empty() ? read_parts(files, config, reading, stop)
                                : read_joined(files, config, reading, stop);
}

TextTokens read_generated_text(const DatasetConfig& config, std::int64_t seed,
                               const TextReading& reading) {
    TextCollector collector(reading);
    TextTokens& parts = collector.parts();
    parts.train = collector.add_text(
        generated_text(seed, first_of(generated_train_size, config.train_limit), 0));
    collector.split_validation(config.validation_share);
    parts.test = collector.add_text(
        generated_text(seed, first_of(generated_test_size, config.test_limit), 1));
    check_training_part(config.kind, config, parts);
    collector.drop_short_test(config.kind);
    return collector.finish(config.kind);
}

}  // namespace engine
