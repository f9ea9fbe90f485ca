#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "data/dataset_descriptor.h"
#include "data/input_guide.h"
#include "data/text/text_files.h"
#include "data/text/text_reader.h"
#include "data/text/text_tokenizer.h"
#include "data/text/text_vocabulary.h"
#include "data/text/tokenizer_pipeline.h"
#include "engine/data/dataset_preview.h"

namespace engine {
namespace {

/// One part of a text, for predicting each token from those before it. Field `tokens` is a window
/// of the text, field `target` the same window one token later.
class TextDataset final : public Dataset {
public:
    using Tokens = std::shared_ptr<const std::vector<std::int32_t>>;

    /// The part [first, first + count) of `tokens`, which are ids of the vocabulary.
    TextDataset(Tokens tokens, std::int64_t first, std::int64_t count,
                std::shared_ptr<const TextVocabulary> vocabulary);

    std::int64_t size() const override { return count_; }
    const Schema& schema() const override { return schema_; }
    bool is_stream() const override { return true; }
    /// Copies the window that begins at token `index`. The spans set its length T; an empty span is
    /// skipped. Requires index + T < size().
    void read(std::int64_t index, const SampleFields& out) const override;

    void describe(DatasetPreview& preview) const override;
    void guide(InputGuide& guide) const override;
    const std::vector<std::string>& vocabulary() const { return vocabulary_->words; }
    /// Occurrences of each token in the training part (the same list for every part).
    const std::vector<std::int64_t>& counts() const { return vocabulary_->counts; }
    bool is_words() const { return vocabulary_->is_words; }

    /// The first `count` tokens as readable text: words joined by spaces with a line feed for each
    /// <eos>, the characters, or the text that the tokenizer makes of them.
    std::string passage(std::int64_t count) const;

private:
    std::size_t token(std::int64_t index) const {
        return static_cast<std::size_t>((*tokens_)[static_cast<std::size_t>(first_ + index)]);
    }

    Tokens tokens_;
    std::int64_t first_;
    std::int64_t count_;
    std::shared_ptr<const TextVocabulary> vocabulary_;
    Schema schema_;
};

Schema text_schema(std::int64_t vocabulary, std::int64_t mask = -1) {
    Schema schema;
    schema.add({.name = "tokens",
                .kind = FieldKind::tokens,
                .dtype = DType::i64,
                .shape = {1},
                .cardinality = vocabulary,
                .mask_token = mask,
                .windowed = true});
    schema.add({.name = "target",
                .kind = FieldKind::label,
                .dtype = DType::i64,
                .shape = {1},
                .cardinality = vocabulary,
                .windowed = true});
    return schema;
}

TextDataset::TextDataset(Tokens tokens, std::int64_t first, std::int64_t count,
                         std::shared_ptr<const TextVocabulary> vocabulary)
    : tokens_(std::move(tokens)),
      first_(first),
      count_(count),
      vocabulary_(std::move(vocabulary)),
      schema_(text_schema(vocabulary_->size(),
                          vocabulary_->tokenizer ? vocabulary_->tokenizer->mask() : -1)) {}

void TextDataset::read(std::int64_t index, const SampleFields& out) const {
    const auto window = tokens_->begin() + first_ + index;
    const auto inputs = out.i64(0);
    const auto targets = out.i64(1);
    std::copy_n(window, inputs.size(), inputs.begin());
    std::copy_n(window + 1, targets.size(), targets.begin());
}

void TextDataset::guide(InputGuide& guide) const {
    guide.vocabulary = vocabulary_->words;
    guide.words = vocabulary_->is_words;
    if (vocabulary_->tokenizer) guide.tokenizer = vocabulary_->tokenizer->source();
    guide.framed_lines = vocabulary_->framed_lines;
}

std::string TextDataset::passage(std::int64_t count) const {
    if (vocabulary_->tokenizer) {
        const std::span<const std::int32_t> all(*tokens_);
        const auto first = all.subspan(static_cast<std::size_t>(first_));
        return vocabulary_->tokenizer->decode(first.first(static_cast<std::size_t>(count)), false);
    }
    std::string out;
    bool at_line_start = true;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::string& word = vocabulary()[token(i)];
        const bool ends_line = is_words() && word == end_of_line_token;
        if (is_words() && !ends_line && !at_line_start) out += ' ';
        out += ends_line ? "\n" : word;
        at_line_start = ends_line;
    }
    return out;
}

/// Opens a text with the ids of a given vocabulary (open_dataset_as).
DataParts open_text_as(const std::vector<std::string>& given, const DatasetConfig& config,
                       std::int64_t seed, const std::stop_token& stop) {
    TextReading reading = text_reading(config);
    reading.given_vocabulary = given;
    TextTokens text = config.kind == text_generated_kind
                          ? read_generated_text(config, seed, reading)
                          : read_text(config, reading, stop);
    const auto tokens = std::make_shared<const std::vector<std::int32_t>>(std::move(text.tokens));
    const auto vocabulary = std::make_shared<const TextVocabulary>(std::move(text.vocabulary));
    std::int64_t first = 0;
    const auto next_part = [&](std::int64_t count) -> DataPart {
        if (count == 0) return {};
        first += count;
        return {std::make_shared<TextDataset>(tokens, first - count, count, vocabulary)};
    };
    DataParts parts;
    parts.train = next_part(text.train);
    parts.validation = next_part(text.validation);
    parts.test = next_part(text.test);
    parts.warnings = std::move(text.warnings);
    return parts;
}

/// Opens the kinds text-words, text-chars, text-tokens and text-generated, as read_text() and
/// read_generated_text() describe. The parts share one copy of the text.
DataParts open_text(const DatasetConfig& config, std::int64_t seed, const std::stop_token& stop) {
    return open_text_as({}, config, seed, stop);
}

/// The schema of a typical text, for use before a file is opened: 33,278 words or 65 characters.
Schema nominal_text_schema(bool words) { return text_schema(words ? 33'278 : 65); }

/// Tokens that a file of text-tokens has before it is read: GPT-2's.
constexpr std::int64_t gpt2_vocabulary = 50'257;

void TextDataset::describe(DatasetPreview& preview) const {
    constexpr std::int64_t passage_words = 60, passage_characters = 320;
    constexpr std::size_t max_listed = 12;
    TextPreview& text_preview = preview.text.emplace();
    text_preview.words = is_words();
    text_preview.tokens = vocabulary_->tokenizer != nullptr;
    text_preview.vocabulary = static_cast<std::int64_t>(vocabulary().size());
    const std::int64_t wanted = is_words() ? passage_words : passage_characters;
    text_preview.passage = passage(std::min(size(), wanted));
    std::vector<std::size_t> order(vocabulary().size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::size_t shown = std::min(max_listed, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown),
                      order.end(), [this](std::size_t a, std::size_t b) {
                          return counts()[a] != counts()[b] ? counts()[a] > counts()[b] : a < b;
                      });
    for (std::size_t i = 0; i < shown; ++i)
        text_preview.frequent.push_back({vocabulary()[order[i]], counts()[order[i]]});
}

}  // namespace

DatasetDescriptor text_words_descriptor() {
    const auto options = text_words_option_specs();
    return {
        .kind = text_words_kind,
        .title = "Text (words)",
        .summary = "A text as a sequence of words, for a language model.",
        .needs = "A text file, or a folder with train, valid and test files, plain, .gz or .xz.",
        .unit = "tokens",
        .options = {options.begin(), options.end()},
        .schema = [](const DatasetConfig&) { return nominal_text_schema(/*words=*/true); },
        .files_decide = true,
        .open = open_text,
        .open_as = open_text_as,
        .recognise =
            [](const std::filesystem::path& path) {
                return recognise_text(path) == text_words_kind;
            }};
}

DatasetDescriptor text_chars_descriptor() {
    const auto options = text_chars_option_specs();
    return {
        .kind = text_chars_kind,
        .title = "Text (characters)",
        .summary = "A text as a sequence of characters, for a language model.",
        .needs = "A text file, or a folder with train, valid and test files, plain, .gz or .xz.",
        .unit = "tokens",
        .options = {options.begin(), options.end()},
        .schema = [](const DatasetConfig&) { return nominal_text_schema(/*words=*/false); },
        .files_decide = true,
        .open = open_text,
        .open_as = open_text_as,
        .recognise =
            [](const std::filesystem::path& path) {
                return recognise_text(path) == text_chars_kind;
            }};
}

DatasetDescriptor text_tokens_descriptor() {
    const auto options = text_tokens_option_specs();
    return {
        .kind = text_tokens_kind,
        .title = "Text (tokenizer.json)",
        .summary =
            "A text as the tokens of a tokenizer file, for weights that were trained on "
            "them.",
        .needs = "A text file, or a folder with train, valid and test files, plain, .gz or .xz.",
        .unit = "tokens",
        .options = {options.begin(), options.end()},
        .schema = [](const DatasetConfig&) { return text_schema(gpt2_vocabulary); },
        .files_decide = true,
        .open = open_text};
}

DatasetDescriptor text_generated_descriptor() {
    return {.kind = text_generated_kind,
            .title = "Generated text",
            .summary =
                "Simple sentences, sums and brackets, made from the seed; for a small language "
                "model of characters.",
            .unit = "tokens",
            .schema = [](const DatasetConfig&) { return nominal_text_schema(/*words=*/false); },
            .files_decide = true,
            .open = open_text,
            .open_as = open_text_as};
}

}  // namespace engine
