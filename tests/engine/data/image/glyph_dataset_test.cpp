#include "data/image/glyph_dataset.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <thread>
#include <vector>

#include "read_sample.h"

namespace engine {
namespace {

std::vector<float> image_at(const Dataset& data, std::int64_t index) {
    return test::read_sample(data, index).values;
}

TEST(GlyphDataset, IsAPureFunctionOfSeedStreamAndIndex) {
    const GlyphDataset forwards(5, StreamId::glyphs_train, 50);
    const GlyphDataset backwards(5, StreamId::glyphs_train, 100);
    std::vector<std::vector<float>> first;
    for (std::int64_t i = 0; i < 50; ++i) first.push_back(image_at(forwards, i));
    for (std::int64_t i = 49; i >= 0; --i) {
        EXPECT_EQ(first[static_cast<std::size_t>(i)], image_at(backwards, i)) << i;
        EXPECT_EQ(test::read_label(forwards, i), test::read_label(backwards, i));
    }
    const GlyphDataset other_seed(6, StreamId::glyphs_train, 50);
    EXPECT_NE(image_at(forwards, 0), image_at(other_seed, 0));
}

TEST(GlyphDataset, ReadsTheSameFromItsCacheAsWhenFirstDrawn) {
    const GlyphDataset data(5, StreamId::glyphs_train, 3);
    const auto drawn = image_at(data, 2);
    EXPECT_EQ(drawn, image_at(data, 2));
}

TEST(GlyphDataset, NoTestImageIsATrainImage) {
    const GlyphDataset train(1, StreamId::glyphs_train, GlyphDataset::train_size);
    const GlyphDataset test(1, StreamId::glyphs_test, GlyphDataset::test_size);
    std::set<std::vector<float>> seen;
    for (std::int64_t i = 0; i < train.size(); ++i) seen.insert(image_at(train, i));
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(train.size()));
    for (std::int64_t i = 0; i < test.size(); ++i)
        EXPECT_FALSE(seen.contains(image_at(test, i))) << i;
}

TEST(GlyphDataset, StatesItsMeanAndDeviation) {
    const GlyphDataset data(11, StreamId::glyphs_train, GlyphDataset::train_size);
    double sum = 0, square = 0;
    for (std::int64_t i = 0; i < data.size(); ++i) {
        for (const float value : image_at(data, i)) {
            ASSERT_GE(value, 0.0F);
            ASSERT_LE(value, 1.0F);
            sum += value;
            square += static_cast<double>(value) * value;
        }
    }
    const FieldSpec& field = data.schema()["image"];
    const double count = static_cast<double>(data.size() * field.shape.numel());
    const double mean = sum / count;
    EXPECT_NEAR(mean, field.normalization.mean[0], 0.003);
    EXPECT_NEAR(std::sqrt(square / count - mean * mean), field.normalization.deviation[0], 0.003);
}

TEST(GlyphDataset, HoldsEveryClassEquallyOften) {
    const GlyphDataset data(1, StreamId::glyphs_train, GlyphDataset::train_size);
    const std::int64_t classes = data.schema()["label"].cardinality;
    EXPECT_EQ(data.schema()["label"].names.size(), static_cast<std::size_t>(classes));
    std::vector<std::int64_t> counts(static_cast<std::size_t>(classes));
    for (std::int64_t i = 0; i < data.size(); ++i)
        ++counts[static_cast<std::size_t>(test::read_label(data, i))];
    for (const auto count : counts) EXPECT_EQ(count, data.size() / classes);
}

TEST(GlyphDataset, MayBeReadFromSeveralThreadsAtOnce) {
    const GlyphDataset shared(4, StreamId::glyphs_train, 200);
    const GlyphDataset alone(4, StreamId::glyphs_train, 200);
    std::vector<std::vector<float>> seen[2];
    {
        std::vector<std::jthread> readers;
        for (auto& images : seen) {
            readers.emplace_back([&images, &shared] {
                for (std::int64_t i = 0; i < 200; ++i) images.push_back(image_at(shared, i));
            });
        }
    }
    for (std::int64_t i = 0; i < 200; ++i) {
        const auto expected = image_at(alone, i);
        EXPECT_EQ(seen[0][static_cast<std::size_t>(i)], expected);
        EXPECT_EQ(seen[1][static_cast<std::size_t>(i)], expected);
    }
}

TEST(GlyphStrokes, StayInTheUnitSquare) {
    EXPECT_EQ(glyph_shapes().size(), 20U);
    for (const auto& shape : glyph_shapes()) {
        for (const auto& stroke : shape.strokes) {
            EXPECT_GE(stroke.size(), 2U) << shape.name;
            for (const auto& point : stroke) {
                EXPECT_TRUE(point.x >= -0.05F && point.x <= 1.05F && point.y >= -0.05F &&
                            point.y <= 1.05F)
                    << shape.name << ' ' << point.x << ' ' << point.y;
            }
        }
    }
}

}  // namespace
}  // namespace engine
