#include <gtest/gtest.h>

#include "data/dataset.h"
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

TEST(OpenDataset, RefusesAKindThatItDoesNotKnow) {
    try {
        open_dataset(generated("imagenet"), 1);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::settings);
        EXPECT_NE(std::string(error.what()).find("imagenet"), std::string::npos);
    }
}

TEST(DatasetCatalog, DescribesTheGeneratedSetsAsTheyAre) {
    for (const auto& info : datasets()) {
        if (!info.needs.empty()) continue;
        const auto train = open_dataset(generated(info.kind, 1), 1).train;
        const auto shape = train->shape();
        EXPECT_EQ(info.classes, train->classes()) << info.kind;
        std::vector<std::int64_t> expected{shape.channels};
        if (shape.is_image()) expected.insert(expected.end(), {shape.height, shape.width});
        EXPECT_EQ(info.sample_shape, expected);
    }
}

}  // namespace
}  // namespace engine
