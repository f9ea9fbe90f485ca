#include "data/image/image_transforms.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "read_sample.h"
#include "support/golden_file.h"

namespace engine {
namespace {

using nlohmann::json;

json golden() { return json::parse(test::golden_text("picture_changes.json")); }

std::vector<float> image_of(const json& from) {
    std::vector<float> image;
    for (const auto& value : from.at("rgb")) image.push_back(value.get<float>() / 255);
    return image;
}

/// Values computed by torchvision in f32 (tests/peer/picture_golden.py), printed to 7 digits. The
/// bound of 8 units of 2^-23 allows a few roundings of numbers below 2.
TEST(ColorJitter, ChangesColoursAsTorchvisionDoes) {
    const json numbers = golden();
    for (const json& wanted : numbers.at("changes")) {
        const auto name = wanted.at("name").get<std::string>();
        const auto factor = wanted.at("factor").get<float>();
        std::vector<float> image = image_of(numbers);
        const auto change = name == "brightness" ? change_brightness
                            : name == "contrast" ? change_contrast
                                                 : change_saturation;
        change(image, factor);
        const auto expected = wanted.at("values").get<std::vector<float>>();
        ASSERT_EQ(image.size(), expected.size());
        for (std::size_t i = 0; i < image.size(); ++i)
            ASSERT_NEAR(image[i], expected[i], 1e-6) << name << ' ' << factor << ' ' << i;
    }
}

std::vector<float> jittered(double strength, std::uint64_t position, std::int64_t epoch = 0) {
    std::vector<float> image = image_of(golden());
    std::array places{test::place_of(image.data(), image.size())};
    ColorJitter(strength).apply(SampleFields(places), 0, {1, epoch, position});
    return image;
}

TEST(ColorJitter, FollowsFromSeedEpochAndPositionAndStaysInRange) {
    EXPECT_EQ(jittered(0.4, 7), jittered(0.4, 7));
    EXPECT_NE(jittered(0.4, 7), jittered(0.4, 8));
    EXPECT_NE(jittered(0.4, 7), jittered(0.4, 7, 1));
    for (std::uint64_t position = 0; position < 50; ++position) {
        for (const float value : jittered(1, position)) {
            EXPECT_GE(value, 0);
            EXPECT_LE(value, 1);
        }
    }
}

/// A grey image has no saturation, and a uniform one no contrast. Only brightness remains, whose
/// factor must cover the whole range.
TEST(ColorJitter, DrawsFactorsFromTheWholeRange) {
    double lowest = 1, highest = 1;
    for (std::uint64_t position = 0; position < 500; ++position) {
        std::vector<float> image(12, 0.5F);
        std::array places{test::place_of(image.data(), image.size())};
        ColorJitter(0.3).apply(SampleFields(places), 0, {1, 0, position});
        lowest = std::min<double>(lowest, image[0] / 0.5);
        highest = std::max<double>(highest, image[0] / 0.5);
    }
    EXPECT_NEAR(lowest, 0.7, 0.01);
    EXPECT_NEAR(highest, 1.3, 0.01);
}

}  // namespace
}  // namespace engine
