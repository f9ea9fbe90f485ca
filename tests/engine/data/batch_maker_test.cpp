#include "data/batch_maker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/error.h"
#include "ramp_dataset.h"

namespace engine {
namespace {

using test::RampDataset;

constexpr SampleShape colour{3, 12, 10};

Batch make(const SampleShape& shape, LoaderOptions options, std::int64_t epoch = 0,
           std::int64_t index = 0, std::int64_t size = 20) {
    BatchMaker maker(std::make_shared<RampDataset>(size, shape), options);
    Batch batch;
    maker.make(batch, epoch, index);
    return batch;
}

TEST(BatchMaker, LaysSamplesOutOneAfterAnotherInHwcOrder) {
    const auto batch = make(colour, {.batch_size = 8, .shuffle = false, .normalize = false}, 0, 2);
    ASSERT_EQ(batch.size(), 4);
    EXPECT_TRUE(batch.last_of_epoch);
    EXPECT_EQ(batch.index_in_epoch, 2);
    for (std::int64_t i = 0; i < 4; ++i) {
        const auto at = static_cast<std::size_t>(i);
        EXPECT_EQ(batch.indices[at], 16 + i);
        EXPECT_EQ(batch.labels[at], (16 + i) % 7);
        for (std::int64_t e = 0; e < 360; ++e) {
            ASSERT_EQ(batch.pixels[at * 360 + static_cast<std::size_t>(e)],
                      RampDataset::value(16 + i, e));
        }
    }
}

TEST(BatchMaker, StartsPixelsOnACacheLine) {
    const auto batch = make(colour, {.batch_size = 8});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(batch.pixels.data()) % 64, 0U);
}

TEST(BatchMaker, NormalizesByChannel) {
    const LoaderOptions raw{.batch_size = 8, .normalize = false};
    LoaderOptions normalized = raw;
    normalized.normalize = true;
    const auto before = make(colour, raw);
    const auto after = make(colour, normalized);
    for (std::size_t i = 0; i < before.pixels.size(); ++i) {
        const auto channel = static_cast<float>(i % 3 + 1);
        ASSERT_EQ(after.pixels[i], (before.pixels[i] - 0.25F * channel) / (0.5F * channel));
    }
}

/// Where an augmented image came from: every value is unique in RampDataset, 0 is padding.
struct Crop {
    std::int64_t down, right;
    bool flip;
};

/// The crop that explains the image, by trying all; fails the test if none or several do.
Crop explain(std::span<const float> image, const SampleShape& shape, std::int64_t sample) {
    std::vector<Crop> found;
    for (std::int64_t down = -6; down <= 6; ++down) {
        for (std::int64_t right = -6; right <= 6; ++right) {
            for (const bool flip : {false, true}) {
                bool same = true;
                for (std::int64_t i = 0; same && i < shape.elements(); ++i) {
                    const std::int64_t c = i % shape.channels;
                    const std::int64_t x = i / shape.channels % shape.width;
                    const std::int64_t y = i / shape.channels / shape.width + down;
                    const std::int64_t from = (flip ? shape.width - 1 - x : x) + right;
                    const bool inside =
                        y >= 0 && y < shape.height && from >= 0 && from < shape.width;
                    const float expected =
                        inside ? RampDataset::value(sample,
                                                    (y * shape.width + from) * shape.channels + c)
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

TEST(BatchMaker, CropsWithinFourPixelsOfZeroPaddingAndFlipsHalf) {
    std::set<std::int64_t> downs, rights;
    int flips = 0, total = 0;
    for (std::int64_t epoch = 0; epoch < 10; ++epoch) {
        const auto batch =
            make(colour, {.batch_size = 20, .augment = true, .normalize = false}, epoch);
        for (std::size_t i = 0; i < 20; ++i) {
            const auto image = std::span(batch.pixels).subspan(i * 360, 360);
            const Crop crop = explain(image, colour, batch.indices[i]);
            downs.insert(crop.down);
            rights.insert(crop.right);
            flips += crop.flip ? 1 : 0;
            ++total;
        }
    }
    EXPECT_EQ(downs, (std::set<std::int64_t>{-4, -3, -2, -1, 0, 1, 2, 3, 4}));
    EXPECT_EQ(rights, downs);
    EXPECT_NEAR(flips, total / 2, 43);  // six deviations of sqrt(200) / 2
}

TEST(BatchMaker, DrawsAugmentationByThePositionInTheEpoch) {
    // The same samples in batches of another size are augmented the same way.
    const auto large = make(colour, {.batch_size = 20, .augment = true}, 1);
    const auto small = make(colour, {.batch_size = 5, .augment = true}, 1, 3);
    for (std::size_t i = 0; i < 5 * 360; ++i)
        ASSERT_EQ(small.pixels[i], large.pixels[15 * 360 + i]);
    const auto other_epoch = make(colour, {.batch_size = 20, .shuffle = false, .augment = true}, 2);
    const auto this_epoch = make(colour, {.batch_size = 20, .shuffle = false, .augment = true}, 1);
    EXPECT_NE(other_epoch.pixels, this_epoch.pixels);
}

TEST(BatchMaker, PadsWithTheZeroOfThePixelsAndNormalizesAfterwards) {
    const auto batch = make(colour, {.batch_size = 20, .augment = true});
    const auto padded = std::count(batch.pixels.begin(), batch.pixels.end(), (0 - 0.25F) / 0.5F);
    EXPECT_GT(padded, 0);
}

TEST(BatchMaker, AugmentsImagesSmallerThanTheirPadding) {
    const auto batch = make({1, 2, 2}, {.batch_size = 20, .augment = true, .normalize = false});
    for (std::size_t i = 0; i < 20; ++i) {
        for (std::size_t e = 0; e < 4; ++e) {
            const float value = batch.pixels[i * 4 + e];
            const auto sample = batch.indices[i];
            EXPECT_TRUE(value == 0 || (value >= RampDataset::value(sample, 0) &&
                                       value <= RampDataset::value(sample, 3)));
        }
    }
}

TEST(BatchMaker, RefusesToAugmentFeatures) {
    EXPECT_THROW(make({5, 1, 1}, {.augment = true}), Error);
}

}  // namespace
}  // namespace engine
