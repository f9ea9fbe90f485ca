#include "data/image/image_transforms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "ramp_dataset.h"
#include "read_sample.h"
#include "tensor/philox.h"

namespace engine {
namespace {

using test::RampDataset;
using ::testing::ElementsAre;

const Shape colour{3, 12, 10};

std::vector<float> transformed(std::vector<float> values, const SampleTransform& transform,
                               const SamplePlace& place = {}) {
    // Field 1, so that a wrong field index shows.
    std::array places{SampleFields::Place{}, test::place_of(values.data(), values.size())};
    transform.apply(SampleFields(places), 1, place);
    return values;
}

std::vector<float> ramp_image(const Shape& shape, std::int64_t sample) {
    std::vector<float> values;
    for (std::int64_t e = 0; e < shape.numel(); ++e)
        values.push_back(RampDataset::value(sample, e));
    return values;
}

/// The augmented image of a sample.
std::vector<float> crop(const Shape& shape, std::int64_t sample, const SamplePlace& place) {
    return transformed(ramp_image(shape, sample), CropAndFlip(shape), place);
}

/// Where an augmented image was cut from. Every value of RampDataset is unique and 0 is padding.
struct Crop {
    std::int64_t down, right;
    bool flip;
};

/// Finds the crop that explains the image by trying all. Fails the test unless exactly one does.
Crop explain(std::span<const float> image, const Shape& shape, std::int64_t sample) {
    const std::int64_t channels = shape[0], height = shape[1], width = shape[2];
    std::vector<Crop> found;
    for (std::int64_t down = -6; down <= 6; ++down) {
        for (std::int64_t right = -6; right <= 6; ++right) {
            for (const bool flip : {false, true}) {
                bool same = true;
                for (std::int64_t i = 0; same && i < shape.numel(); ++i) {
                    const std::int64_t c = i % channels;
                    const std::int64_t x = i / channels % width;
                    const std::int64_t y = i / channels / width + down;
                    const std::int64_t from = (flip ? width - 1 - x : x) + right;
                    const bool inside = y >= 0 && y < height && from >= 0 && from < width;
                    const float expected =
                        inside ? RampDataset::value(sample, (y * width + from) * channels + c)
                               : 0.0F;
                    same = image[static_cast<std::size_t>(i)] == expected;
                }
                if (same) found.push_back({down, right, flip});
            }
        }
    }
    EXPECT_EQ(found.size(), 1U);
    return found.empty() ? Crop{99, 99, false} : found[0];
}

TEST(CropAndFlip, CropsWithinFourPixelsOfZeroPaddingAndFlipsHalf) {
    std::set<std::int64_t> downs, rights;
    int flips = 0;
    for (std::uint64_t position = 0; position < 200; ++position) {
        const auto cropped = crop(colour, 5, {.epoch = 3, .position = position});
        const Crop found = explain(cropped, colour, 5);
        downs.insert(found.down);
        rights.insert(found.right);
        flips += found.flip ? 1 : 0;
    }
    EXPECT_EQ(downs, (std::set<std::int64_t>{-4, -3, -2, -1, 0, 1, 2, 3, 4}));
    EXPECT_EQ(rights, downs);
    EXPECT_NEAR(flips, 100, 43);  // six standard deviations of sqrt(200) / 2
}

TEST(CropAndFlip, TakesTheWordsOfItsPlace) {
    for (const SamplePlace& place : {SamplePlace{1, 0, 0}, SamplePlace{9, 4, 17},
                                     SamplePlace{-3, 1, (std::uint64_t{1} << 33) + 5}}) {
        const PhiloxBlock words =
            RandomStream(place.seed, StreamId::augment, static_cast<std::uint32_t>(place.epoch))
                .block(place.position);
        const Crop found = explain(crop(colour, 2, place), colour, 2);
        EXPECT_EQ(found.down + 4, RandomStream::to_bounded(words[0], 9));
        EXPECT_EQ(found.right + 4, RandomStream::to_bounded(words[1], 9));
        EXPECT_EQ(found.flip, (words[2] & 1) != 0);
    }
}

TEST(CropAndFlip, AugmentsImagesSmallerThanTheirPadding) {
    const Shape small{1, 2, 2};
    std::set<float> seen;
    for (std::uint64_t position = 0; position < 100; ++position) {
        for (const float value : crop(small, 3, {.position = position})) {
            EXPECT_TRUE(value == 0 ||
                        (value >= RampDataset::value(3, 0) && value <= RampDataset::value(3, 3)));
            seen.insert(value);
        }
    }
    EXPECT_EQ(seen.size(), 5U);
}

TEST(CropAndFlip, CropsImagesOfDifferentSizesInTurns) {
    const SamplePlace place{.position = 1};
    const auto expected = crop(colour, 1, place);
    crop({1, 30, 30}, 1, place);
    crop({1, 2, 2}, 1, place);
    EXPECT_EQ(crop(colour, 1, place), expected);
}

TEST(Normalize, DividesByTheDeviationOfTheChannel) {
    const auto before = ramp_image(colour, 4);
    const auto after =
        transformed(before, Normalize({{0.25F, 0.5F, 0.75F}, {0.5F, 1.0F, 1.5F}}, colour[2]));
    for (std::size_t i = 0; i < before.size(); ++i) {
        const auto channel = static_cast<float>(i % 3 + 1);
        ASSERT_EQ(after[i], (before[i] - 0.25F * channel) / (0.5F * channel));
    }
}

TEST(Normalize, DividesByTheDeviationOfTheFeature) {
    const Normalize normalize({{1, 2, 3}, {2, 4, 8}}, 1);
    EXPECT_THAT(transformed({3, 2, -5}, normalize), ElementsAre(1, 0, -1));
}

}  // namespace
}  // namespace engine
