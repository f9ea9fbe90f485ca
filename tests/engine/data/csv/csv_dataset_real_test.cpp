#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "engine/data/dataset_preview.h"
#include "open_kind.h"
#include "support/data_fixtures.h"

namespace engine {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

DataParts open(const std::string& path, const Options& options = {}) {
    DatasetConfig config = test::dataset("csv", {path});
    config.options = options;
    return test::open_kind(config);
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

TEST(CsvDataset, ReadsTheRealIris) {
    SKIP_WITHOUT_DATA("tabular/iris.csv");
    const DataParts parts = open(HALFTONE_DATA_DIR "/tabular/iris.csv");
    EXPECT_EQ(parts.train.size(), 120);
    EXPECT_EQ(parts.test.size(), 30);
    const Schema& schema = parts.train.data->schema();
    ASSERT_EQ(schema.fields.size(), 2U);
    EXPECT_THAT(schema["label"].names, ElementsAre("setosa", "versicolor", "virginica"));
    EXPECT_THAT(schema["features"].names,
                ElementsAre("sepal_length", "sepal_width", "petal_length", "petal_width"));
    std::array<int, 3> counts{};
    for (std::int64_t i = 0; i < 150; ++i)
        ++counts.at(static_cast<std::size_t>(read_row(*parts.train.data, i).label));
    EXPECT_THAT(counts, Each(50));
    EXPECT_THAT(read_row(*parts.train.data, 0).features, ElementsAre(5.1F, 3.5F, 1.4F, 0.2F));
    EXPECT_THAT(parts.warnings, IsEmpty());
}

TEST(CsvDataset, ReadsTheRealHousing) {
    SKIP_WITHOUT_DATA("tabular/housing.csv");
    const std::string file = HALFTONE_DATA_DIR "/tabular/housing.csv";
    Options options{{"target", std::string("median_house_value")}};
    EXPECT_THAT(test::data_error([&] { open(file, options); }),
                HasSubstr("housing.csv, line 292, column \"total_bedrooms\": the value is missing, "
                          "as in 207 of 20640 rows"));
    options["missing"] = std::string("drop");
    const DataParts dropped = open(file, options);
    EXPECT_EQ(dropped.train.data->size(), 20433);
    ASSERT_THAT(dropped.warnings, SizeIs(1));
    EXPECT_THAT(dropped.warnings[0].str(), HasSubstr("a value is missing: 207 of 20640"));
    options["missing"] = std::string("mean");
    const DataParts parts = open(file, options);
    EXPECT_EQ(parts.train.size() + parts.test.size(), 20640);
    EXPECT_EQ(parts.test.size(), 4128);
    const Schema& schema = parts.train.data->schema();
    EXPECT_EQ(schema.find(FieldKind::label), nullptr);  // 3,842 different values
    EXPECT_THAT(
        schema["features"].names,
        ElementsAre("longitude", "latitude", "housing_median_age", "total_rooms", "total_bedrooms",
                    "population", "households", "median_income", "ocean_proximity=<1H OCEAN",
                    "ocean_proximity=INLAND", "ocean_proximity=ISLAND", "ocean_proximity=NEAR BAY",
                    "ocean_proximity=NEAR OCEAN"));
    const Sample first = read_row(*parts.train.data, 0);
    EXPECT_THAT(first.features,
                ElementsAre(-122.23F, 37.88F, 41, 880, 129, 322, 126, 8.3252F, 0, 0, 0, 1, 0));
    EXPECT_EQ(first.target, 452600);
    DatasetPreview preview;
    parts.train.data->describe(preview);
    EXPECT_EQ(preview.columns.at(4).missing, 207);
    EXPECT_EQ(preview.columns.at(9).words.at(0).word, "<1H OCEAN");
    EXPECT_EQ(preview.columns.at(9).words.at(0).count, 9136);
}

}  // namespace
}  // namespace engine
