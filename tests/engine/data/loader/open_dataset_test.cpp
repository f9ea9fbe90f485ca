#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "data/byte_reader.h"
#include "data/dataset.h"
#include "engine/base/error.h"
#include "engine/settings/catalog.h"
#include "ramp_dataset.h"
#include "read_sample.h"
#include "support/data_fixtures.h"

namespace engine {
namespace {

DatasetConfig generated(const std::string& kind, std::int64_t train_limit = 0,
                        std::int64_t test_limit = 0) {
    DatasetConfig config;
    config.kind = kind;
    config.train_limit = train_limit;
    config.test_limit = test_limit;
    return config;
}

TEST(OpenDataset, MakesTheGeneratedSetsWithoutAPath) {
    for (const auto* kind : {"spirals", "glyphs"}) {
        const auto parts = open_dataset(generated(kind), 1);
        EXPECT_GT(parts.train.size(), parts.test.size()) << kind;
        EXPECT_FALSE(parts.validation.data) << kind;
        EXPECT_EQ(parts.validation.size(), 0) << kind;
        const Schema& schema = parts.train.data->schema();
        EXPECT_EQ(schema["label"].names.size(),
                  static_cast<std::size_t>(schema["label"].cardinality));
        EXPECT_EQ(schema.fields[0].normalization.mean.size(),
                  static_cast<std::size_t>(schema.fields[0].shape[0]));
    }
}

TEST(OpenDataset, KeepsTheFirstSamplesUnderALimit) {
    const auto parts = open_dataset(generated("glyphs", 30, 20), 1);
    EXPECT_EQ(parts.train.size(), 30);
    EXPECT_EQ(parts.test.size(), 20);
}

TEST(OpenDataset, HandsTheSameCopyToTwoRunsOfOneSetAndSeed) {
    const auto first = open_dataset(generated("glyphs"), 1);
    EXPECT_EQ(open_dataset(generated("glyphs"), 1).train.data, first.train.data);
    EXPECT_EQ(open_dataset(generated("glyphs"), 1).test.data, first.test.data);
    EXPECT_NE(open_dataset(generated("glyphs"), 2).train.data, first.train.data);
    EXPECT_NE(open_dataset(generated("glyphs", 5), 1).train.data, first.train.data);
}

TEST(OpenDataset, StopsReadingFilesOnRequest) {
    const test_support::TempFolder folder;
    for (const std::string set : {"train", "t10k"}) {
        folder.write(set + "-images-idx3-ubyte", test::idx_images(8));
        folder.write(set + "-labels-idx1-ubyte", test::idx_labels(8));
    }
    const auto config = test::dataset("mnist", {folder.str()});
    std::stop_source stopped;
    stopped.request_stop();
    EXPECT_THROW(open_dataset(config, 1, stopped.get_token()), ReadingStopped);
    EXPECT_EQ(open_dataset(config, 1).train.size(), 8) << "the next one reads it whole";
}

TEST(OpenDataset, RefusesAKindThatItDoesNotKnow) {
    try {
        open_dataset(generated("imagenet"), 1);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::settings);
        EXPECT_NE(std::string(error.what()).find("imagenet"), std::string::npos);
    }
}

void expect_as_described(const DatasetDescriptor& info, const Dataset& train) {
    const FieldSpec& input = train.schema().fields.front();
    EXPECT_EQ(info.input, name(input.kind));
    if (info.files_decide) return;
    const Shape& shape = input.shape;
    EXPECT_EQ(info.classes, train.schema().find(FieldKind::label)->cardinality) << info.kind;
    EXPECT_EQ(info.sample_shape, std::vector<std::int64_t>(shape.begin(), shape.end()));
}

TEST(DatasetCatalog, DescribesTheGeneratedSetsAsTheyAre) {
    for (const auto& info : datasets()) {
        if (!info.needs.empty()) continue;
        expect_as_described(info, *open_dataset(generated(info.kind, 100, 100), 1).train.data);
    }
}

TEST(DatasetCatalog, DescribesTheRealSetsAsTheyAre) {
    SKIP_WITHOUT_DATA("fashion-mnist");
    SKIP_WITHOUT_DATA("cifar100-15k");
    for (const auto& info : datasets()) {
        auto config = generated(info.kind, 1, 1);
        if (info.kind == "fashion-mnist") config.path = {HALFTONE_DATA_DIR "/fashion-mnist"};
        if (info.kind == "cifar100") config.path = {HALFTONE_DATA_DIR "/cifar100-15k"};
        if (!config.path.empty()) expect_as_described(info, *open_dataset(config, 1).train.data);
    }
}

TEST(OpenDataset, SharesFilesBetweenSeedsUnlessTheSeedSplitsThem) {
    const test_support::TempFolder folder;
    folder.write("train.bin", test::cifar(100, 0, 30));
    folder.write("test.bin", test::cifar(100, 0, 3));
    auto config = test::dataset("cifar100", {folder.str()});
    const auto first = open_dataset(config, 1);
    EXPECT_EQ(open_dataset(config, 2).train.data, first.train.data);
    config.validation_share = 0.5;
    const auto split = open_dataset(config, 1);
    EXPECT_NE(*open_dataset(config, 2).validation.rows, *split.validation.rows);
}

TEST(OpenDataset, ReadsFilesAgainWhenTheyHaveChanged) {
    const test_support::TempFolder folder;
    folder.write("train.bin", test::cifar(100, 0, 3));
    folder.write("test.bin", test::cifar(100, 0, 3));
    const auto config = test::dataset("cifar100", {folder.str()});
    const auto first = open_dataset(config, 1);
    EXPECT_EQ(open_dataset(config, 1).train.data, first.train.data);
    folder.write("train.bin", test::cifar(100, 0, 4));
    EXPECT_EQ(open_dataset(config, 1).train.size(), 4);
}

TEST(OpenDataset, EveryKindWithoutItsPathSaysWhatItNeeds) {
    for (const auto& info : datasets()) {
        if (info.needs.empty()) continue;
        const auto error = test::data_error([&] { open_dataset(test::dataset(info.kind, {}), 1); });
        EXPECT_THAT(error, ::testing::HasSubstr(": no path is given | "));
        EXPECT_THAT(error, ::testing::HasSubstr("dataset.path"));
    }
}

std::vector<std::int64_t> samples_of(const DataPart& part) {
    std::vector<std::int64_t> samples;
    for (std::int64_t i = 0; i < part.size(); ++i) samples.push_back(part.sample(i));
    return samples;
}

DataParts ramp_parts(std::int64_t size) {
    DataParts parts;
    parts.train = {std::make_shared<test::RampDataset>(size, Shape{2})};
    return parts;
}

TEST(SplitValidation, TakesAShareOfTheTrainingSamplesAway) {
    for (const double share : {0.1, 0.25, 0.5, 0.999}) {
        DataParts parts = ramp_parts(1000);
        const auto data = parts.train.data;
        split_validation(parts, share, 1);
        EXPECT_EQ(parts.train.data, data);
        EXPECT_EQ(parts.validation.data, data);
        EXPECT_EQ(parts.validation.size(), std::llround(share * 1000));
        const auto train = samples_of(parts.train), validation = samples_of(parts.validation);
        EXPECT_TRUE(std::is_sorted(train.begin(), train.end()));
        EXPECT_TRUE(std::is_sorted(validation.begin(), validation.end()));
        // Each sample is in exactly one of them.
        std::vector<std::int64_t> all, expected(1000);
        std::merge(train.begin(), train.end(), validation.begin(), validation.end(),
                   std::back_inserter(all));
        std::iota(expected.begin(), expected.end(), 0);
        EXPECT_EQ(all, expected);
    }
}

TEST(SplitValidation, DrawsBySeed) {
    const auto drawn = [](std::int64_t seed) {
        DataParts parts = ramp_parts(1000);
        split_validation(parts, 0.2, seed);
        return samples_of(parts.validation);
    };
    EXPECT_EQ(drawn(1), drawn(1));
    EXPECT_NE(drawn(1), drawn(2));
    // The samples come from the whole data set: 40 from each fifth are expected; the standard
    // deviation is 5.1. Allows six of them.
    const auto samples = drawn(3);
    for (std::int64_t fifth = 0; fifth < 5; ++fifth) {
        const auto count = std::count_if(samples.begin(), samples.end(), [&](std::int64_t sample) {
            return sample / 200 == fifth;
        });
        EXPECT_NEAR(static_cast<double>(count), 40, 31);
    }
}

TEST(SplitValidation, DrawsTheSameSamplesInEveryVersion) {
    // A resumed run must not be evaluated on samples that it was trained on.
    DataParts parts = ramp_parts(20);
    split_validation(parts, 0.25, 1);
    EXPECT_THAT(samples_of(parts.validation), ::testing::ElementsAre(1, 2, 10, 14, 17));
}

TEST(SplitValidation, SplitsAPartThatIsOnlySomeOfItsDataSet) {
    DataParts parts = ramp_parts(100);
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < 20; ++i) rows.push_back(3 * i + 1);
    parts.train.rows = std::make_shared<const std::vector<std::int64_t>>(rows);
    split_validation(parts, 0.25, 1);
    EXPECT_EQ(parts.validation.size(), 5);
    auto all = samples_of(parts.train);
    const auto validation = samples_of(parts.validation);
    all.insert(all.end(), validation.begin(), validation.end());
    EXPECT_THAT(all, ::testing::UnorderedElementsAreArray(rows));
}

TEST(SplitValidation, RefusesToLeaveAPartEmpty) {
    for (const auto& [size, share] : {std::pair{10, 0.04}, {10, 0.96}, {1, 0.5}, {1, 0.4}}) {
        DataParts parts = ramp_parts(size);
        try {
            split_validation(parts, share, 1);
            FAIL() << "not refused: " << share << " of " << size;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::settings);
            EXPECT_THAT(error.what(), ::testing::StartsWith("dataset.validation_share: "));
            EXPECT_FALSE(error.hint().empty());
        }
    }
}

TEST(OpenDataset, SplitsAValidationPartOff) {
    auto config = generated("spirals", 1000, 100);
    config.validation_share = 0.2;
    const auto parts = open_dataset(config, 1);
    EXPECT_EQ(parts.train.size(), 800);
    EXPECT_EQ(parts.validation.size(), 200);
    EXPECT_EQ(parts.test.size(), 100);
    EXPECT_EQ(parts.validation.data, parts.train.data);
}

TEST(OpenDataset, SplitsTheEndOfATextOff) {
    auto config = generated("text-generated", 10000, 1000);
    config.validation_share = 0.2;
    const auto parts = open_dataset(config, 1);
    EXPECT_TRUE(parts.train.data->is_stream());
    EXPECT_TRUE(parts.validation.data->is_stream());
    EXPECT_FALSE(parts.validation.rows);
    EXPECT_EQ(parts.train.size(), 8000);
    EXPECT_EQ(parts.validation.size(), 2000);
}

TEST(OpenDataset, HandsTheSameSplitToTwoRunsOfOneShareAndSeed) {
    auto config = generated("glyphs", 100, 100);
    config.validation_share = 0.2;
    const auto first = open_dataset(config, 1);
    const auto second = open_dataset(config, 1);
    EXPECT_EQ(second.train.data, first.train.data);
    EXPECT_EQ(second.train.rows, first.train.rows);
    EXPECT_EQ(second.validation.rows, first.validation.rows);
    EXPECT_EQ(second.validation.size(), 20);
    EXPECT_EQ(second.test.data, first.test.data);
    config.validation_share = 0.3;
    EXPECT_EQ(open_dataset(config, 1).validation.size(), 30);
    config.validation_share = 0.2549999;
    const auto fewer = open_dataset(config, 1);
    EXPECT_EQ(fewer.validation.size(), 25);
    config.validation_share = 0.2550001;
    EXPECT_EQ(open_dataset(config, 1).validation.size(), 26) << "seven digits count";
    config.validation_share = 0;
    EXPECT_FALSE(open_dataset(config, 1).validation.data);
    EXPECT_EQ(open_dataset(config, 1).train.size(), 100);
}

TEST(OpenDataset, DrawsAnotherSplitOfTheSameFilesByAnotherSeed) {
    const test_support::TempFolder folder;
    folder.write("train.bin", test::cifar(100, 0, 60));
    folder.write("test.bin", test::cifar(100, 0, 3));
    auto config = test::dataset("cifar100", {folder.str()});
    config.validation_share = 0.5;
    const auto first = open_dataset(config, 1);
    const auto other = open_dataset(config, 2);
    EXPECT_EQ(first.validation.size(), 30);
    EXPECT_NE(*first.validation.rows, *other.validation.rows);
}

TEST(OpenDataset, ForgetsPartsWhoseUsersAreGone) {
    auto config = generated("spirals", 50, 50);
    config.validation_share = 0.5;
    std::weak_ptr<const Dataset> train, test;
    {
        const auto parts = open_dataset(config, 1);
        train = parts.train.data;
        test = parts.test.data;
    }
    EXPECT_TRUE(train.expired());
    EXPECT_TRUE(test.expired());
    // The other of the two sets is freed.
    const auto held = open_dataset(config, 1).test;
    const auto again = open_dataset(config, 1);
    EXPECT_EQ(again.train.size(), 25);
    EXPECT_EQ(again.test.size(), 50);
}

TEST(OpenDataset, TellsOptionsApartInItsCache) {
    const test_support::TempFolder folder;
    auto config = test::dataset("csv", {folder.write("t.csv",
                                                     "a,b,c\n1,2,3\n4,5,6\n7,8,10\n"
                                                     "2,3,5\n5,6,7\n3,4,9\n")});
    config.options["target"] = std::string("c");
    const auto first = open_dataset(config, 1);
    EXPECT_EQ(open_dataset(config, 1).train.data, first.train.data);
    config.options["target"] = std::string("a");
    EXPECT_NE(open_dataset(config, 1).train.data, first.train.data);
}

/// One field of each kind that is normalised, and a label.
Schema every_kind() {
    Schema schema = classified_images({1, 4, 5}, {{1}, {2}}, {"a", "b"});
    schema.add({.name = "features",
                .kind = FieldKind::features,
                .shape = {2},
                .normalization = {{1, 2}, {3, 4}}});
    schema.add(
        {.name = "value", .kind = FieldKind::value, .shape = {1}, .normalization = {{5}, {2}}});
    schema.add({.name = "raw", .kind = FieldKind::value, .shape = {1}});
    return schema;
}

std::vector<std::size_t> transforms_of(bool normalize, bool augment, bool training) {
    DatasetConfig config;
    config.normalize = normalize;
    config.augment = augment;
    std::vector<std::size_t> counts;
    for (const FieldSpec& field : with_transforms(every_kind(), config, training).fields)
        counts.push_back(field.transforms.size());
    return counts;
}

TEST(WithTransforms, AttachesWhatTheSettingsAskFor) {
    using ::testing::ElementsAre;
    // image, label, features, value, raw
    EXPECT_THAT(transforms_of(true, true, true), ElementsAre(2, 0, 1, 1, 0));
    EXPECT_THAT(transforms_of(true, false, true), ElementsAre(1, 0, 1, 1, 0));
    EXPECT_THAT(transforms_of(true, true, false), ElementsAre(1, 0, 1, 1, 0));
    EXPECT_THAT(transforms_of(false, true, true), ElementsAre(1, 0, 0, 1, 0));
    EXPECT_THAT(transforms_of(false, false, false), ElementsAre(0, 0, 0, 1, 0));
}

TEST(WithTransforms, NormalizesValuesEvenWhereInputsAreNot) {
    DatasetConfig config;
    config.normalize = false;
    const Schema schema = with_transforms(every_kind(), config, true);
    float value = 9;
    std::vector<SampleFields::Place> places(schema.fields.size());
    places[3] = test::place_of(&value, 1);
    schema["value"].transforms[0]->apply(SampleFields(places), 3, {});
    EXPECT_EQ(value, 2);
}

TEST(WithTransforms, NormalizesAfterPaddingWithZeros) {
    DatasetConfig config;
    config.augment = true;
    const Schema schema = with_transforms(every_kind(), config, true);
    int padded = 0;
    for (std::uint64_t position = 0; position < 20; ++position) {
        std::vector<float> image(20, 3.0F);
        std::vector<SampleFields::Place> places{test::place_of(image.data(), image.size())};
        for (const auto& transform : schema["image"].transforms)
            transform->apply(SampleFields(places), 0, {.position = position});
        for (const float value : image) {
            EXPECT_TRUE(value == 1.0F || value == -0.5F) << value;
            padded += value == -0.5F;
        }
    }
    EXPECT_GT(padded, 0);
}

}  // namespace
}  // namespace engine
