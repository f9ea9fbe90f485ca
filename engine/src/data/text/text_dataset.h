#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/text/text_vocabulary.h"

namespace engine {

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

    /// Tokens [first, first + count) as readable text: words joined by spaces with a line feed for
    /// each <eos>, or the characters.
    std::string text(std::int64_t first, std::int64_t count) const;

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

/// Opens the kinds text-words, text-chars and text-generated, as read_text() and
/// read_generated_text() describe. The parts share one copy of the text.
DataParts open_text(const DatasetConfig& config, std::int64_t seed,
                    const std::stop_token& stop = {});

/// Opens a text with the ids of a given vocabulary (open_dataset_as).
DataParts open_text_as(const std::vector<std::string>& vocabulary, const DatasetConfig& config,
                       std::int64_t seed, const std::stop_token& stop);

/// The schema of a typical text, for use before a file is opened: 33,278 words or 65 characters.
Schema nominal_text_schema(bool words);

}  // namespace engine
