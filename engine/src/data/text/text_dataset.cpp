#include "data/text/text_dataset.h"

#include <algorithm>
#include <utility>

#include "data/input_guide.h"
#include "data/text/text_reader.h"
#include "data/text/text_tokenizer.h"

namespace engine {
namespace {

Schema text_schema(std::int64_t vocabulary) {
    Schema schema;
    schema.add({.name = "tokens",
                .kind = FieldKind::tokens,
                .dtype = DType::i64,
                .shape = {1},
                .cardinality = vocabulary,
                .windowed = true});
    schema.add({.name = "target",
                .kind = FieldKind::label,
                .dtype = DType::i64,
                .shape = {1},
                .cardinality = vocabulary,
                .windowed = true});
    return schema;
}

}  // namespace

TextDataset::TextDataset(Tokens tokens, std::int64_t first, std::int64_t count,
                         std::shared_ptr<const TextVocabulary> vocabulary)
    : tokens_(std::move(tokens)),
      first_(first),
      count_(count),
      vocabulary_(std::move(vocabulary)),
      schema_(text_schema(vocabulary_->size())) {}

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
}

std::string TextDataset::text(std::int64_t first, std::int64_t count) const {
    std::string out;
    bool at_line_start = true;
    for (std::int64_t i = first; i < first + count; ++i) {
        const std::string& word = vocabulary()[token(i)];
        const bool ends_line = is_words() && word == end_of_line_token;
        if (is_words() && !ends_line && !at_line_start) out += ' ';
        out += ends_line ? "\n" : word;
        at_line_start = ends_line;
    }
    return out;
}

DataParts open_text(const DatasetConfig& config, std::int64_t seed, const std::stop_token& stop) {
    return open_text_as({}, config, seed, stop);
}

DataParts open_text_as(const std::vector<std::string>& given, const DatasetConfig& config,
                       std::int64_t seed, const std::stop_token& stop) {
    TextReading reading = text_reading(config);
    reading.given_vocabulary = given;
    TextTokens text = config.kind == "text-generated" ? read_generated_text(config, seed, reading)
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

Schema nominal_text_schema(bool words) { return text_schema(words ? 33'278 : 65); }

}  // namespace engine
