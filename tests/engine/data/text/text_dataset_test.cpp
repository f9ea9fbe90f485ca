#include "data/text/text_dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "data/text/generated_text.h"
#include "support/data_fixtures.h"

namespace engine {
namespace {

using test_support::TempFolder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const TextDataset& text_of(const DataPart& part) {
    return dynamic_cast<const TextDataset&>(*part.data);
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

DatasetConfig folder_of(const TempFolder& folder) {
    folder.write("train.txt", "the cat sat\non the mat\n");
    folder.write("valid.txt", "the mat\n");
    folder.write("test.txt", "a cat sat\n");
    return test::dataset("text-words", {folder.str()});
}

TEST(TextDataset, GivesWindowsAndTheSameOneTokenLater) {
    const TempFolder folder;
    const auto parts = open_text(folder_of(folder), 1);
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
    const auto parts = open_text(folder_of(folder), 1);
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
    const auto parts = open_text(folder_of(folder), 1);
    ASSERT_EQ(parts.warnings.size(), 1U);  // "a" of the test part
    for (const auto* part : {&parts.train, &parts.validation, &parts.test}) {
        const auto& text = text_of(*part);
        EXPECT_TRUE(text.is_stream());
        EXPECT_TRUE(text.is_words());
        EXPECT_THAT(text.vocabulary(),
                    ElementsAre("the", "cat", "sat", "<eos>", "on", "mat", "<unk>"));
        EXPECT_THAT(text.counts(), ElementsAre(2, 1, 1, 2, 1, 1, 0));
        const Schema& schema = text.schema();
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
    const auto parts = open_text(folder_of(folder), 1);
    EXPECT_EQ(text_of(parts.train).text(0, 8), "the cat sat\non the mat\n");
    EXPECT_EQ(text_of(parts.train).text(2, 3), "sat\non");
    EXPECT_EQ(text_of(parts.test).text(0, 4), "<unk> cat sat\n");
    EXPECT_EQ(text_of(parts.train).text(3, 0), "");
    const auto file = folder.write("a.md", "aé\n <漢>");
    auto config = test::dataset("text-chars", {file});
    config.options["test_share"] = 0.0;
    const auto characters = open_text(config, 1);
    EXPECT_FALSE(text_of(characters.train).is_words());
    EXPECT_EQ(text_of(characters.train).text(0, 7), "aé\n <漢>");
    EXPECT_EQ(characters.test.data, nullptr);
    EXPECT_EQ(characters.validation.size(), 0);
}

TEST(TextDataset, DoesNotNeedItsFilesOnceOpened) {
    const TempFolder folder;
    const auto parts = open_text(folder_of(folder), 1);
    std::filesystem::remove_all(folder / "");
    EXPECT_EQ(text_of(parts.validation).text(0, 2), "the mat");
}

TEST(TextDataset, IsGeneratedFromTheSeedWithoutAFile) {
    const auto config = test::dataset("text-generated", {});
    const auto parts = open_text(config, 5);
    EXPECT_EQ(parts.train.size(), 200'000);
    EXPECT_EQ(parts.test.size(), 20'000);
    EXPECT_EQ(parts.validation.data, nullptr);
    EXPECT_THAT(parts.warnings, IsEmpty());
    EXPECT_EQ(text_of(parts.train).vocabulary().size(), 40U);
    EXPECT_EQ(text_of(parts.train).text(0, 200'000), generated_text(5, 200'000));
    EXPECT_EQ(text_of(parts.test).text(0, 20'000), generated_text(5, 20'000, 1));
    EXPECT_NE(text_of(open_text(config, 6).train).text(0, 100), text_of(parts.train).text(0, 100));
}

TEST(TextDataset, LimitsAndSplitsAGeneratedText) {
    auto config = test::dataset("text-generated", {});
    config.train_limit = 10'000;
    config.test_limit = 500;
    config.validation_share = 0.1;
    const auto parts = open_text(config, 5);
    EXPECT_EQ(parts.train.size(), 9'000);
    EXPECT_EQ(parts.validation.size(), 1'000);
    EXPECT_EQ(parts.test.size(), 500);
    EXPECT_EQ(text_of(parts.validation).text(0, 1'000), generated_text(5, 10'000).substr(9'000));
    config.train_limit = 1'000'000;
    EXPECT_EQ(open_text(config, 5).train.size(), 180'000);
}

TEST(TextDataset, HasATypicalSchemaWhereNoFileIsAtHand) {
    EXPECT_EQ(nominal_text_schema(true)["tokens"].cardinality, 33'278);
    EXPECT_EQ(nominal_text_schema(false)["target"].cardinality, 65);
}

}  // namespace
}  // namespace engine
