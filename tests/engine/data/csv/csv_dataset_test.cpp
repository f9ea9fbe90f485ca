#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "open_kind.h"
#include "support/data_fixtures.h"

namespace engine {
namespace {

using test_support::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

DataParts open(const std::string& path, const Options& options = {}, std::int64_t seed = 1,
               double validation_share = 0) {
    DatasetConfig config = test::dataset("csv", {path});
    config.options = options;
    config.validation_share = validation_share;
    return test::open_kind(config, seed);
}

DataParts open_text(const std::string& text, const Options& options = {}) {
    const TempFolder folder;
    return open(folder.write("t.csv", text), options);
}

struct Sample {
    std::vector<float> features;
    float target = 0;
    std::int64_t label = -1;
};

Sample read_row(const Dataset& data, std::int64_t row) {
    const Schema& schema = data.schema();
    Sample sample;
    sample.features.assign(static_cast<std::size_t>(schema["features"].shape[0]), -99);
    std::vector<SampleFields::Place> places;
    for (const auto& field : schema.fields) {
        void* to = field.kind == FieldKind::features ? static_cast<void*>(sample.features.data())
                   : field.kind == FieldKind::value  ? static_cast<void*>(&sample.target)
                                                     : static_cast<void*>(&sample.label);
        places.push_back({static_cast<std::byte*>(to), field.sample_bytes()});
    }
    data.read(row, SampleFields(places));
    return sample;
}

std::string warnings(const DataParts& parts) {
    std::string out;
    for (const auto& warning : parts.warnings) out += warning.str() + '\n';
    return out;
}

/// 50 rows: x, one of three words, and a target of x / 2.
std::string table() {
    std::string text = "x,word,y\n";
    for (int i = 0; i < 50; ++i) {
        const char* words[] = {"low", "mid", "high"};
        text += std::to_string(i * i % 37) + ',' + words[i % 3] + ',' +
                std::to_string(i * i % 37 / 2.0) + '\n';
    }
    return text;
}

TEST(CsvDataset, FieldsAreFeaturesAndTarget) {
    const DataParts parts = open_text(table());
    const Schema& schema = parts.train.data->schema();
    ASSERT_EQ(schema.fields.size(), 2U);
    EXPECT_EQ(schema.fields[0].name, "features");
    EXPECT_EQ(schema.fields[0].kind, FieldKind::features);
    EXPECT_EQ(schema.fields[0].shape, (Shape{4}));
    EXPECT_THAT(schema.fields[0].names, ElementsAre("x", "word=high", "word=low", "word=mid"));
    EXPECT_EQ(schema.fields[1].name, "target");
    EXPECT_EQ(schema.fields[1].kind, FieldKind::value);
    EXPECT_EQ(schema.fields[1].shape, (Shape{1}));
    EXPECT_THAT(schema.fields[1].names, ElementsAre("y"));
}

TEST(CsvDataset, ReadsRawNumbersAndOneHotWords) {
    const DataParts parts = open_text(table());
    EXPECT_EQ(parts.train.data->size(), 50);
    const Sample first = read_row(*parts.train.data, 0);
    EXPECT_THAT(first.features, ElementsAre(0, 0, 1, 0));
    const Sample sample = read_row(*parts.train.data, 7);  // 49 % 37 = 12, mid
    EXPECT_THAT(sample.features, ElementsAre(12, 0, 0, 1));
    EXPECT_EQ(sample.target, 6);
}

TEST(CsvDataset, AWholeTargetIsAValueAndALabel) {
    const DataParts parts = open_text("x,y\n1,30\n2,4\n3,4\n", {{"test_share", 0.0}});
    const Schema& schema = parts.train.data->schema();
    ASSERT_EQ(schema.fields.size(), 3U);
    EXPECT_EQ(schema["label"].kind, FieldKind::label);
    EXPECT_EQ(schema["label"].dtype, DType::i64);
    EXPECT_EQ(schema["label"].shape, Shape{});
    EXPECT_EQ(schema["label"].cardinality, 2);
    EXPECT_THAT(schema["label"].names, ElementsAre("4", "30"));
    const Sample sample = read_row(*parts.train.data, 0);
    EXPECT_EQ(sample.target, 30);
    EXPECT_EQ(sample.label, 1);
}

TEST(CsvDataset, ATargetOfWordsIsALabelOnly) {
    const DataParts parts = open_text("x,y\n1,b\n2,a\n3,b\n", {{"test_share", 0.0}});
    const Schema& schema = parts.train.data->schema();
    ASSERT_EQ(schema.fields.size(), 2U);
    EXPECT_THAT(schema["label"].names, ElementsAre("a", "b"));
    EXPECT_EQ(read_row(*parts.train.data, 1).label, 0);
}

TEST(CsvDataset, StandardisesWithTheTrainingRowsAlone) {
    const DataParts parts = open_text(table());
    ASSERT_EQ(parts.train.size(), 40);
    double sum = 0;
    for (std::int64_t i = 0; i < 40; ++i)
        sum += read_row(*parts.train.data, parts.train.sample(i)).features[0];
    const double mean = sum / 40;
    double squares = 0;
    for (std::int64_t i = 0; i < 40; ++i) {
        const double x = read_row(*parts.train.data, parts.train.sample(i)).features[0];
        squares += (x - mean) * (x - mean);
    }
    const double deviation = std::sqrt(squares / 40);
    const Schema& schema = parts.train.data->schema();
    EXPECT_THAT(schema["features"].normalization.mean,
                ElementsAre(static_cast<float>(mean), 0, 0, 0));
    EXPECT_THAT(schema["features"].normalization.deviation,
                ElementsAre(static_cast<float>(deviation), 1, 1, 1));
    EXPECT_FLOAT_EQ(schema["target"].normalization.mean[0], static_cast<float>(mean / 2));
    EXPECT_FLOAT_EQ(schema["target"].normalization.deviation[0], static_cast<float>(deviation / 2));
    // The statistics above are not those of all rows.
    EXPECT_NE(schema["features"].normalization.mean[0],
              static_cast<float>(open_text(table(), {{"test_share", 0.0}})
                                     .train.data->schema()["features"]
                                     .normalization.mean[0]));
}

TEST(CsvDataset, LeavesFeaturesAsTheyAreButScalesTheTarget) {
    const DataParts parts = open_text(table(), {{"standardize", false}});
    const Schema& schema = parts.train.data->schema();
    EXPECT_TRUE(schema["features"].normalization.empty());
    EXPECT_FALSE(schema["target"].normalization.empty());
}

TEST(CsvDataset, SplitsIntoPartsOfOneDataSetByTheSeed) {
    const TempFolder folder;
    const std::string file = folder.write("t.csv", table());
    const DataParts parts = open(file, {}, 3, 0.25);
    EXPECT_EQ(parts.train.data, parts.test.data);
    EXPECT_EQ(parts.train.data, parts.validation.data);
    EXPECT_EQ(parts.train.size(), 30);
    EXPECT_EQ(parts.validation.size(), 10);
    EXPECT_EQ(parts.test.size(), 10);
    std::vector<std::int64_t> all;
    for (const auto* part : {&parts.train, &parts.validation, &parts.test})
        all.insert(all.end(), part->rows->begin(), part->rows->end());
    std::sort(all.begin(), all.end());
    for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(all[i], static_cast<std::int64_t>(i));
    EXPECT_EQ(*open(file, {}, 3, 0.25).train.rows, *parts.train.rows);
    EXPECT_NE(*open(file, {}, 4, 0.25).train.rows, *parts.train.rows);
}

TEST(CsvDataset, APartMayBeEmptyOrAbsent) {
    const DataParts parts = open_text(table(), {{"test_share", 0.0}});
    ASSERT_NE(parts.test.data, nullptr);
    EXPECT_THAT(*parts.test.rows, IsEmpty());
    EXPECT_EQ(parts.test.size(), 0);
    EXPECT_EQ(parts.validation.data, nullptr);
}

TEST(CsvDataset, LimitsKeepTheFirstRowsOfAPart) {
    const TempFolder folder;
    DatasetConfig config = test::dataset("csv", {folder.write("t.csv", table())});
    const DataParts all = test::open_kind(config);
    config.train_limit = 7;
    config.test_limit = 3;
    const DataParts parts = test::open_kind(config);
    ASSERT_EQ(parts.train.size(), 7);
    ASSERT_EQ(parts.test.size(), 3);
    for (std::int64_t i = 0; i < 7; ++i) EXPECT_EQ(parts.train.sample(i), all.train.sample(i));
    EXPECT_EQ(parts.test.sample(2), all.test.sample(2));
    double sum = 0;
    for (std::int64_t i = 0; i < 7; ++i)
        sum += read_row(*parts.train.data, parts.train.sample(i)).features[0];
    EXPECT_FLOAT_EQ(parts.train.data->schema()["features"].normalization.mean[0],
                    static_cast<float>(sum / 7));
}

TEST(CsvDataset, FillsGapsWithTheTrainingMeanAndTheMostFrequentTrainingCategory) {
    // Rows 0 to 39. x and the word are missing in every fourth row.
    std::string text = "x,word,y\n";
    for (int i = 0; i < 40; ++i) {
        const std::string x = std::to_string(i);
        text += (i % 4 == 0 ? "," : x + (i % 3 == 0 ? ",a" : ",b")) + "," + x + ".5\n";
    }
    const DataParts parts = open_text(text, {{"missing", std::string("mean")}});
    double sum = 0;
    int count = 0;
    for (const auto row : *parts.train.rows) {
        if (row % 4 == 0) continue;
        sum += static_cast<double>(row);
        ++count;
    }
    const auto mean = static_cast<float>(sum / count);
    for (std::int64_t row = 0; row < 40; ++row) {
        const auto features = read_row(*parts.train.data, row).features;
        if (row % 4 == 0) {
            EXPECT_THAT(features, ElementsAre(mean, 0, 1)) << row;  // of all parts
        } else {
            EXPECT_EQ(features[0], static_cast<float>(row));
            EXPECT_EQ(features[1], row % 3 == 0 ? 1 : 0);
        }
    }
    EXPECT_FLOAT_EQ(parts.train.data->schema()["features"].normalization.mean[0], mean);
}

TEST(CsvDataset, PassesTheWarningsOfTheTableAndOfTheTrainingRowsOn) {
    const auto all =
        warnings(open_text("id,z,y\na,1,p\nb,1,p\nc,,p\n", {{"missing", std::string("drop")}}));
    EXPECT_THAT(all, HasSubstr("left out because a value is missing: 1 of 3"));
    EXPECT_THAT(all, HasSubstr("column \"id\" has a different word in every row"));
    EXPECT_THAT(all, HasSubstr("never change in the training rows: 1 (z)"));
    EXPECT_THAT(all, HasSubstr("the target has a single class: p"));
}

TEST(CsvDataset, WarnsIfNoRowIsLeftForTheTestPart) {
    const std::string two = "x,y\n1,0.5\n2,1.5\n";
    EXPECT_THAT(warnings(open_text(two)), HasSubstr("too short for a test part"));
    EXPECT_THAT(warnings(open_text(two, {{"test_share", 0.0}})), Not(HasSubstr("test part")));
}

TEST(CsvDataset, RefusesSharesThatLeaveNothingToTrainOn) {
    EXPECT_THAT(test::data_error([] {
                    open_text("x,y\n1,2\n3,4\n", {{"test_share", 0.8}});
                }),
                HasSubstr("t.csv: of 2 rows, 2 are test and 0 validation rows: none is left"));
}

TEST(CsvDataset, RefusesFoldersAndMissingFiles) {
    const TempFolder folder;
    EXPECT_THAT(test::data_error([&] { open(folder.str()); }),
                HasSubstr("a folder, not a CSV file"));
    EXPECT_THAT(test::data_error([&] { open((folder / "no.csv").string()); }),
                HasSubstr("no.csv: no such file"));
    EXPECT_THAT(test::data_error([] { test::open_kind(test::dataset("csv", {})); }),
                HasSubstr("no path is given"));
}

TEST(CsvDataset, DoesNotNeedItsFileOnceOpened) {
    const DataParts parts = open_text(table());  // its folder is gone
    EXPECT_EQ(read_row(*parts.train.data, 49).features.size(), 4U);
}

TEST(CsvDataset, TheNominalSchemaHasAllFields) {
    const Schema schema = dataset_descriptor("csv").schema({});
    EXPECT_EQ(schema["features"].shape, (Shape{16}));
    EXPECT_EQ(schema["target"].shape, (Shape{1}));
    EXPECT_EQ(schema["label"].cardinality, 2);
}

}  // namespace
}  // namespace engine
