#include "data/detection/shapes_scene.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <sstream>

// Scenes of tests/peer/shapes.py, bit for bit.
namespace engine {
namespace {

std::uint64_t checksum(const std::vector<std::uint8_t>& bytes) {
    return crc32(0, bytes.data(), static_cast<unsigned>(bytes.size()));
}

/// A line of golden/shapes.txt.
struct Golden {
    std::uint32_t stream = 0, substream = 0;
    std::int64_t side = 0, most = 0;
    std::istringstream rest;
};

std::vector<Golden> golden_scenes() {
    std::ifstream file(HALFTONE_GOLDEN_DIR "/shapes.txt");
    std::vector<Golden> out;
    for (std::string line; std::getline(file, line);) {
        Golden& each = out.emplace_back();
        each.rest.str(line);
        each.rest >> each.stream >> each.substream >> each.side >> each.most;
    }
    return out;
}

ShapesScene draw(const Golden& golden) {
    return draw_shapes(RandomStream(54, StreamId{golden.stream}, golden.substream), golden.side,
                       golden.most);
}

TEST(ShapesScene, HasTheBitsOfItsTwinInNumPy) {
    std::vector<Golden> all = golden_scenes();
    ASSERT_EQ(all.size(), 20u);
    for (Golden& golden : all) {
        const ShapesScene scene = draw(golden);
        std::uint64_t picture = 0, objects = 0;
        golden.rest >> picture >> objects;
        EXPECT_EQ(checksum(scene.picture.rgb), picture) << golden.substream;
        ASSERT_EQ(scene.truth.annotations.size(), objects) << golden.substream;
        for (const DetectionTruth::Annotation& each : scene.truth.annotations) {
            std::int32_t label = 0;
            std::array<double, 4> box{};
            double area = 0;
            std::uint64_t bitmap = 0;
            golden.rest >> label;
            for (double& number : box) golden.rest >> number;
            golden.rest >> area >> bitmap;
            EXPECT_EQ(each.label, label);
            EXPECT_EQ(each.box, box);
            EXPECT_EQ(each.area, area);
            EXPECT_EQ(checksum(decode_bitmap(std::get<RunLength>(each.mask))), bitmap);
        }
    }
}

TEST(ShapesScene, HasDisjointMasksWithinItsPicture) {
    for (std::uint32_t number = 0; number < 40; ++number) {
        const RandomStream random(3, StreamId::shapes_train, number);
        const ShapesScene scene = draw_shapes(random, 64, 12);
        ASSERT_FALSE(scene.truth.annotations.empty());
        std::vector<int> covered(64 * 64);
        for (const DetectionTruth::Annotation& each : scene.truth.annotations) {
            const auto bitmap = decode_bitmap(std::get<RunLength>(each.mask));
            for (std::size_t i = 0; i < covered.size(); ++i) covered[i] += bitmap[i];
            EXPECT_GE(each.label, 1);
            EXPECT_LE(each.label, 3);
        }
        for (const int times : covered) EXPECT_LE(times, 1);
    }
}

}  // namespace
}  // namespace engine
