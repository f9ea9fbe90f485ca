#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "data/input_guide.h"
#include "data/text/generated_text.h"
#include "engine/data/dataset_preview.h"
#include "open_kind.h"
#include "support/data_fixtures.h"
#include "support/small_tokenizer.h"

namespace engine {
namespace {

using test_support::TempFolder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

InputGuide guide_of(const DataPart& part) {
    InputGuide guide;
    part.data->guide(guide);
    return guide;
}

TextPreview preview_of(const DataPart& part) {
    DatasetPreview preview;
    part.data->describe(preview);
    return preview.text.value();
}

SampleFields::Place place(std::vector<std::int64_t>& values) {
    return {reinterpret_cast<std::byte*>(values.data()), values.size() * sizeof(std::int64_t)};
}

struct Window {
    std::vector<std::int64_t> tokens;
    std::vector<std::int64_t> targets;
};

Window read_window(const Dataset& data, std::int64_t index, std::size_t length) {
    Window window{std::vector<std::int64_t>(length), std::vector<std::int64_t>(length)};
    std::array places{place(window.tokens), place(window.targets)};
    data.read(index, SampleFields(places));
    return window;
}

/// All characters of a part.
std::string characters_of(const DataPart& part) {
    const auto window = read_window(*part.data, 0, static_cast<std::size_t>(part.size()) - 1);
    const std::vector<std::string> names = guide_of(part).vocabulary;
    std::string out = names.at(static_cast<std::size_t>(window.tokens.front()));
    for (const std::int64_t token : window.targets)
        out += names.at(static_cast<std::size_t>(token));
    return out;
}

DatasetConfig folder_of(const TempFolder& folder) {
    folder.write("train.txt", "the cat sat\non the mat\n");
    folder.write("valid.txt", "the mat\n");
    folder.write("test.txt", "a cat sat\n");
    return test::dataset("text-words", {folder.str()});
}

TEST(TextDataset, GivesWindowsAndTheSameOneTokenLater) {
    const TempFolder folder;
    const auto parts = test::open_kind(folder_of(folder));
    const auto first = read_window(*parts.train.data, 0, 3);
    EXPECT_THAT(first.tokens, ElementsAre(0, 1, 2));
    EXPECT_THAT(first.targets, ElementsAre(1, 2, 3));
    const auto last = read_window(*parts.train.data, 5, 2);
    EXPECT_THAT(last.tokens, ElementsAre(0, 5));
    EXPECT_THAT(last.targets, ElementsAre(5, 3));
    EXPECT_THAT(read_window(*parts.validation.data, 0, 2).targets, ElementsAre(5, 3));
    EXPECT_THAT(read_window(*parts.test.data, 0, 3).tokens, ElementsAre(6, 1, 2));
}

TEST(TextDataset, FillsOnlyTheFieldsThatAreWanted) {
    const TempFolder folder;
    const auto parts = test::open_kind(folder_of(folder));
    std::vector<std::int64_t> values(4);
    std::vector<std::int64_t> none;
    std::array only_tokens{place(values), place(none)};
    parts.train.data->read(1, SampleFields(only_tokens));
    EXPECT_THAT(values, ElementsAre(1, 2, 3, 4));
    std::array only_targets{place(none), place(values)};
    parts.train.data->read(1, SampleFields(only_targets));
    EXPECT_THAT(values, ElementsAre(2, 3, 4, 0));
}

TEST(TextDataset, KnowsItsVocabularyAndSchema) {
    const TempFolder folder;
    const auto parts = test::open_kind(folder_of(folder));
    ASSERT_EQ(parts.warnings.size(), 1U);  // "a" of the test part
    for (const auto* part : {&parts.train, &parts.validation, &parts.test}) {
        EXPECT_TRUE(part->data->is_stream());
        const InputGuide guide = guide_of(*part);
        EXPECT_TRUE(guide.words);
        EXPECT_THAT(guide.vocabulary,
                    ElementsAre("the", "cat", "sat", "<eos>", "on", "mat", "<unk>"));
        std::vector<std::pair<std::string, std::int64_t>> counts;
        for (const auto& [word, count] : preview_of(*part).frequent)
            counts.emplace_back(word, count);
        EXPECT_THAT(counts,
                    ElementsAre(Pair("the", 2), Pair("<eos>", 2), Pair("cat", 1), Pair("sat", 1),
                                Pair("on", 1), Pair("mat", 1), Pair("<unk>", 0)));
        const Schema& schema = part->data->schema();
        ASSERT_EQ(schema.fields.size(), 2U);
        EXPECT_EQ(schema["tokens"].kind, FieldKind::tokens);
        EXPECT_EQ(schema["target"].kind, FieldKind::label);
        for (const auto& field : schema.fields) {
            EXPECT_EQ(field.dtype, DType::i64);
            EXPECT_EQ(field.shape, Shape({1}));
            EXPECT_EQ(field.cardinality, 7);
            EXPECT_TRUE(field.windowed);
        }
    }
    EXPECT_EQ(parts.train.size(), 8);
    EXPECT_EQ(parts.test.size(), 4);
}

TEST(TextDataset, IsReadableAgain) {
    const TempFolder folder;
    const auto parts = test::open_kind(folder_of(folder));
    EXPECT_EQ(preview_of(parts.train).passage, "the cat sat\non the mat\n");
    EXPECT_EQ(preview_of(parts.test).passage, "<unk> cat sat\n");
    const auto file = folder.write("a.md", "aé\n <漢>");
    auto config = test::dataset("text-chars", {file});
    config.options["test_share"] = 0.0;
    const auto characters = test::open_kind(config);
    EXPECT_FALSE(guide_of(characters.train).words);
    EXPECT_EQ(preview_of(characters.train).passage, "aé\n <漢>");
    EXPECT_EQ(characters.test.data, nullptr);
    EXPECT_EQ(characters.validation.size(), 0);
}

TEST(TextDataset, DoesNotNeedItsFilesOnceOpened) {
    const TempFolder folder;
    const auto parts = test::open_kind(folder_of(folder));
    std::filesystem::remove_all(folder / "");
    EXPECT_EQ(preview_of(parts.validation).passage, "the mat\n");
}

TEST(TextDataset, IsGeneratedFromTheSeedWithoutAFile) {
    const auto config = test::dataset("text-generated", {});
    const auto parts = test::open_kind(config, 5);
    EXPECT_EQ(parts.train.size(), 200'000);
    EXPECT_EQ(parts.test.size(), 20'000);
    EXPECT_EQ(parts.validation.data, nullptr);
    EXPECT_THAT(parts.warnings, IsEmpty());
    EXPECT_EQ(guide_of(parts.train).vocabulary.size(), 40U);
    EXPECT_EQ(characters_of(parts.train), generated_text(5, 200'000));
    EXPECT_EQ(characters_of(parts.test), generated_text(5, 20'000, 1));
    EXPECT_NE(preview_of(test::open_kind(config, 6).train).passage,
              preview_of(parts.train).passage);
}

TEST(TextDataset, LimitsAndSplitsAGeneratedText) {
    auto config = test::dataset("text-generated", {});
    config.train_limit = 10'000;
    config.test_limit = 500;
    config.validation_share = 0.1;
    const auto parts = test::open_kind(config, 5);
    EXPECT_EQ(parts.train.size(), 9'000);
    EXPECT_EQ(parts.validation.size(), 1'000);
    EXPECT_EQ(parts.test.size(), 500);
    EXPECT_EQ(characters_of(parts.validation), generated_text(5, 10'000).substr(9'000));
    config.train_limit = 1'000'000;
    EXPECT_EQ(test::open_kind(config, 5).train.size(), 180'000);
}

DatasetConfig tokens_of(const TempFolder& folder, const std::string& text) {
    auto config = test::dataset("text-tokens", {folder.write("t.txt", text)});
    config.options["tokenizer"] = folder.write("tokenizer.json", test::small_tokenizer());
    config.options["test_share"] = 0.0;
    return config;
}

TEST(TextDataset, ReadsTheTokensOfATokenizer) {
    const TempFolder folder;
    auto config = tokens_of(folder, "The dogs saw a CAT.\n\nA zebra\n");
    const auto parts = test::open_kind(config);
    EXPECT_EQ(parts.train.size(), 9);
    EXPECT_THAT(read_window(*parts.train.data, 0, 8).tokens, ElementsAre(4, 5, 10, 7, 8, 6, 11, 8));
    EXPECT_THAT(read_window(*parts.train.data, 6, 2).targets, ElementsAre(8, 0));
    EXPECT_EQ(preview_of(parts.train).passage, "the dogs saw a cat. a [UNK]");
    EXPECT_TRUE(preview_of(parts.train).tokens);
    EXPECT_EQ(preview_of(parts.train).frequent.front().word, "a");
    const InputGuide guide = guide_of(parts.train);
    EXPECT_EQ(guide.tokenizer, test::small_tokenizer());
    EXPECT_EQ(guide.vocabulary.size(), 12U);
    const Schema& schema = parts.train.data->schema();
    EXPECT_EQ(schema["tokens"].cardinality, 12);
    EXPECT_EQ(schema["tokens"].mask_token, 3);
    ASSERT_EQ(parts.warnings.size(), 1U);
    EXPECT_THAT(parts.warnings[0].str(), ::testing::HasSubstr("vocabulary: \"zebra\""));
    config.options["special_tokens"] = true;
    const auto framed = test::open_kind(config);
    EXPECT_THAT(read_window(*framed.train.data, 0, 12).tokens,
                ElementsAre(1, 4, 5, 10, 7, 8, 6, 11, 2, 1, 8, 0));
    EXPECT_TRUE(guide_of(framed.train).framed_lines);
}

TEST(TextDataset, RefusesATokenizerThatIsMissing) {
    const TempFolder folder;
    auto config = tokens_of(folder, "the cat saw a dog\n");
    config.options["tokenizer"] = std::string();
    EXPECT_THROW(test::open_kind(config), Error);
    config.options["tokenizer"] = (folder / "none.json").string();
    EXPECT_THAT(test::data_error([&] { test::open_kind(config); }),
                ::testing::HasSubstr("none.json"));
}

TEST(TextDataset, HandsItsTokenizerToTheRun) {
    const TempFolder folder;
    const auto parts = test::open_kind(tokens_of(folder, "the cat saw a dog\n"));
    InputGuide guide{.schema = parts.train.data->schema()};
    parts.train.data->guide(guide);
    const auto run = folder / "run";
    std::filesystem::create_directory(run);
    write_input_guide(run, guide);
    const InputGuide read = read_input_guide(run);
    EXPECT_EQ(read.tokenizer, guide.tokenizer);
    EXPECT_EQ(read.schema["tokens"].mask_token, 3);
    folder.write("run/tokenizer.json", guide.tokenizer + " ");
    EXPECT_THAT(test::data_error([&] { read_input_guide(run); }),
                ::testing::HasSubstr("not the tokenizer"));
    std::filesystem::remove(kept_tokenizer(run));
    EXPECT_THROW(read_input_guide(run), Error);
}

TEST(TextDataset, HasATypicalSchemaWhereNoFileIsAtHand) {
    EXPECT_EQ(dataset_descriptor("text-words").schema({})["tokens"].cardinality, 33'278);
    EXPECT_EQ(dataset_descriptor("text-chars").schema({})["target"].cardinality, 65);
}

}  // namespace
}  // namespace engine
