#include <algorithm>
#include <numeric>

#include "data/dataset_descriptor.h"
#include "data/text/text_dataset.h"
#include "data/text/text_files.h"
#include "data/text/text_options.h"
#include "engine/data/dataset_preview.h"

namespace engine {

void TextDataset::describe(DatasetPreview& preview) const {
    constexpr std::int64_t passage_words = 60, passage_characters = 320;
    constexpr std::size_t most_frequent = 12;
    TextPreview& text_preview = preview.text.emplace();
    text_preview.words = is_words();
    text_preview.vocabulary = static_cast<std::int64_t>(vocabulary().size());
    const std::int64_t wanted = is_words() ? passage_words : passage_characters;
    text_preview.passage = text(0, std::min(size(), wanted));
    std::vector<std::size_t> order(vocabulary().size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::size_t shown = std::min(most_frequent, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown),
                      order.end(), [this](std::size_t a, std::size_t b) {
                          return counts()[a] != counts()[b] ? counts()[a] > counts()[b] : a < b;
                      });
    for (std::size_t i = 0; i < shown; ++i)
        text_preview.frequent.push_back({vocabulary()[order[i]], counts()[order[i]]});
}

DatasetDescriptor text_words_descriptor() {
    const auto options = text_words_option_specs();
    return {
        .kind = "text-words",
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
            [](const std::filesystem::path& path) { return recognise_text(path) == "text-words"; }};
}

DatasetDescriptor text_chars_descriptor() {
    const auto options = text_chars_option_specs();
    return {
        .kind = "text-chars",
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
            [](const std::filesystem::path& path) { return recognise_text(path) == "text-chars"; }};
}

DatasetDescriptor text_generated_descriptor() {
    return {.kind = "text-generated",
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
