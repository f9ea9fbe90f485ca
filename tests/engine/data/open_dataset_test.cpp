#include <gtest/gtest.h>

#include "data/byte_reader.h"
#include "data/dataset.h"
#include "support/data_fixtures.h"
#include "engine/catalog.h"
#include "engine/error.h"

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
        const auto [train, test] = open_dataset(generated(kind), 1);
        EXPECT_GT(train->size(), test->size()) << kind;
        EXPECT_EQ(train->class_names().size(), static_cast<std::size_t>(train->classes()));
        EXPECT_EQ(train->normalization().mean.size(),
                  static_cast<std::size_t>(train->shape().channels));
    }
}

TEST(OpenDataset, KeepsTheFirstSamplesUnderALimit) {
    const auto [train, test] = open_dataset(generated("glyphs", 30, 20), 1);
    EXPECT_EQ(train->size(), 30);
    EXPECT_EQ(test->size(), 20);
}

TEST(OpenDataset, HandsTheSameCopyToTwoRunsOfOneSetAndSeed) {
    const auto first = open_dataset(generated("glyphs"), 1);
    EXPECT_EQ(open_dataset(generated("glyphs"), 1).train, first.train);
    EXPECT_NE(open_dataset(generated("glyphs"), 2).train, first.train);
    EXPECT_NE(open_dataset(generated("glyphs", 5), 1).train, first.train);
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
    EXPECT_EQ(open_dataset(config, 1).train->size(), 8) << "the next one reads it whole";
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

void expect_as_described(const DatasetInfo& info, const Dataset& train) {
    const auto shape = train.shape();
    EXPECT_EQ(info.classes, train.classes()) << info.kind;
    std::vector<std::int64_t> expected{shape.channels};
    if (shape.is_image()) expected.insert(expected.end(), {shape.height, shape.width});
    EXPECT_EQ(info.sample_shape, expected);
}

TEST(DatasetCatalog, DescribesTheGeneratedSetsAsTheyAre) {
    for (const auto& info : datasets()) {
        if (!info.needs.empty()) continue;
        expect_as_described(info, *open_dataset(generated(info.kind, 1, 1), 1).train);
    }
}

TEST(DatasetCatalog, DescribesTheRealSetsAsTheyAre) {
    SKIP_WITHOUT_DATA("fashion-mnist");
    SKIP_WITHOUT_DATA("cifar100-15k");
    for (const auto& info : datasets()) {
        auto config = generated(info.kind, 1, 1);
        if (info.kind == "fashion-mnist") config.path = {HALFTONE_DATA_DIR "/fashion-mnist"};
        if (info.kind == "cifar100") config.path = {HALFTONE_DATA_DIR "/cifar100-15k"};
        if (!config.path.empty()) expect_as_described(info, *open_dataset(config, 1).train);
    }
}

TEST(OpenDataset, ReadsFilesAgainWhenTheyHaveChanged) {
    const test_support::TempFolder folder;
    folder.write("train.bin", test::cifar(100, 0, 3));
    folder.write("test.bin", test::cifar(100, 0, 3));
    const auto config = test::dataset("cifar100", {folder.str()});
    const auto first = open_dataset(config, 1);
    EXPECT_EQ(open_dataset(config, 2).train, first.train) << "files do not hang on the seed";
    folder.write("train.bin", test::cifar(100, 0, 4));
    EXPECT_EQ(open_dataset(config, 1).train->size(), 4);
}

TEST(OpenDataset, EveryKindWithoutItsPathSaysWhatItNeeds) {
    for (const auto& info : datasets()) {
        if (info.needs.empty()) continue;
        const auto error = test::data_error([&] { open_dataset(test::dataset(info.kind, {}), 1); });
        EXPECT_NE(error.find(info.title + ": no path is given"), std::string::npos) << error;
    }
}

}  // namespace
}  // namespace engine
