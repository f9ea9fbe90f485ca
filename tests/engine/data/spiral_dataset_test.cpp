#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "open_kind.h"
#include "read_sample.h"

namespace engine {
namespace {

/// Training and test points of this seed; a limit of 0: all.
DataParts spirals(std::int64_t seed, std::int64_t limit = 0) {
    DatasetConfig config;
    config.kind = "spirals";
    config.train_limit = config.test_limit = limit;
    return test::open_kind(config, seed);
}

std::array<float, 2> point(const Dataset& data, std::int64_t index) {
    const auto values = test::read_sample(data, index).values;
    return {values[0], values[1]};
}

TEST(SpiralDataset, IsAPureFunctionOfSeedStreamAndIndex) {
    const DataParts few = spirals(7, 10), many = spirals(7, 1000);
    for (std::int64_t i = 0; i < 10; ++i) {
        EXPECT_EQ(point(*few.train.data, i), point(*many.train.data, i));
        EXPECT_NE(point(*few.train.data, i), point(*few.test.data, i));
    }
}

TEST(SpiralDataset, IsRoundedOnceWhateverTheOptimisation) {
    // At these points, rounding the noise to f32 first would change the last bit.
    const auto parts = spirals(1, 27);
    const Dataset& data = *parts.train.data;
    EXPECT_EQ(point(data, 22), (std::array{-0x1.69fc4cp-4F, 0x1.bec36ap-1F}));
    EXPECT_EQ(point(data, 26), (std::array{0x1.943252p-6F, 0x1.8bdf9cp-3F}));
}

TEST(SpiralDataset, LiesOnTheSpiralsOfItsComment) {
    const auto parts = spirals(1, 2000);
    const Dataset& data = *parts.train.data;
    for (std::int64_t i = 0; i < data.size(); ++i) {
        const auto [x, y] = point(data, i);
        const double t = (std::hypot(x, y) - 0.05) / 0.95;
        const double angle = M_PI * (3 * t + static_cast<double>(test::read_label(data, i)));
        const double radius = std::hypot(x, y);
        // The radius' noise moves a point across the curve, and along it by the angle: at most 3 pi
        // / 0.95 radians per unit of radius, on an arm of at most 1. Allows six standard deviations
        // of 0.02 * hypot(1, 9.93).
        const double off = std::hypot(x - radius * std::cos(angle), y - radius * std::sin(angle));
        EXPECT_LT(off, 6 * 0.02 * 9.98);
    }
}

TEST(SpiralDataset, StatesItsMeanAndDeviation) {
    const auto parts = spirals(2);
    const Dataset& data = *parts.train.data;
    ASSERT_EQ(data.size(), 60000);
    const auto& stated = data.schema()["features"].normalization;
    for (std::size_t axis = 0; axis < 2; ++axis) {
        double sum = 0, square = 0;
        for (std::int64_t i = 0; i < data.size(); ++i) {
            const double value = point(data, i)[axis];
            sum += value;
            square += value * value;
        }
        const auto count = static_cast<double>(data.size());
        // Five standard deviations of the mean of 60,000 values whose own is 0.42.
        EXPECT_NEAR(sum / count, stated.mean[axis], 5 * 0.42 / std::sqrt(count));
        EXPECT_NEAR(std::sqrt(square / count), stated.deviation[axis], 0.005);
    }
}

}  // namespace
}  // namespace engine
