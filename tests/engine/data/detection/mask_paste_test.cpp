#include "data/detection/mask_paste.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/golden_lines.h"
#include "support/drawn_numbers.h"

namespace engine {
namespace {

using support::DrawnNumbers;

constexpr std::size_t side = 28;

struct Pasted {
    int height = 0, width = 0;
    std::array<float, 4> corners{};
    std::vector<float> mask = std::vector<float>(side * side);
};

/// drawn_paste() of tests/peer/paste_golden.py.
Pasted drawn_paste(DrawnNumbers& draw) {
    Pasted out;
    out.height = 1 + draw.below(120);
    out.width = 1 + draw.below(120);
    const auto place = [&](int size) {
        return static_cast<float>(draw.below(4 * (size + 20)) - 40) / 4;
    };
    out.corners[0] = place(out.width);
    out.corners[1] = place(out.height);
    const int most = draw.one_in(4) ? 8 : 480;
    out.corners[2] = out.corners[0] + static_cast<float>(1 + draw.below(most)) / 4;
    out.corners[3] = out.corners[1] + static_cast<float>(1 + draw.below(most)) / 4;
    constexpr std::size_t block = 7, blocks = side / block;
    std::array<float, blocks * blocks> values{};
    for (float& each : values) each = static_cast<float>(2 * draw.below(16) + 1) / 32;
    for (std::size_t y = 0; y < side; ++y) {
        for (std::size_t x = 0; x < side; ++x)
            out.mask[y * side + x] = values[y / block * blocks + x / block];
    }
    return out;
}

TEST(MaskPaste, DrawnMasksLieWhereTorchvisionPastesThem) {
    const auto cases = test_support::golden_lines("mask_paste.txt.xz", "paste");
    ASSERT_EQ(cases.size(), 300U);
    int compared = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        DrawnNumbers draw(1006, static_cast<std::uint32_t>(i));
        const Pasted paste = drawn_paste(draw);
        if (cases[i].at(0) == "close") continue;
        ++compared;
        EXPECT_EQ(run_length_text(paste_mask(paste.mask, paste.corners, paste.height, paste.width)),
                  cases[i].at(0))
            << i;
    }
    EXPECT_GE(compared, 200);
}

TEST(MaskPaste, WhatLiesOutsideHasNoPixelsAndWhatIsNoBoxHasOne) {
    const std::vector<float> full(side * side, 1.0F);
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    for (const std::array<float, 4>& corners :
         {std::array<float, 4>{-90, 0, -50, 20}, {0, 60, 20, 90}, {500, 500, 600, 600}})
        EXPECT_EQ(mask_area(paste_mask(full, corners, 40, 40)), 0) << corners[0];
    for (const std::array<float, 4>& corners :
         {std::array<float, 4>{nan, nan, nan, nan}, {30, 30, 10, 10}})
        EXPECT_EQ(mask_area(paste_mask(full, corners, 40, 40)), 1) << "as the smallest box";
    EXPECT_EQ(mask_area(paste_mask(full, {-1e30F, -1e30F, 1e30F, 1e30F}, 40, 40)), 1600);
    EXPECT_EQ(mask_area(paste_mask(full, {-1e6F, -1e6F, 1e6F, 1e6F}, 40, 40)), 1600);
}

TEST(MaskPaste, DetectionsArePlacedInTheStoredPicture) {
    const PictureSizes sizes{.height = 50, .width = 100, .stored_height = 100, .stored_width = 50};
    std::vector<float> rows = {10, 10, 50, 30, 0.75F, 2, 0, 0, 0, 0, 0, 0};
    const auto boxes = place_detections(rows, 6, sizes);
    ASSERT_EQ(boxes.size(), 1U);
    EXPECT_EQ(boxes[0].label, 2);
    EXPECT_EQ(boxes[0].score, 0.75);
    EXPECT_EQ(boxes[0].box, (std::array<double, 4>{5, 20, 20, 40}));
    EXPECT_TRUE(boxes[0].mask.counts.empty());

    rows.resize(6);
    rows.insert(rows.end(), side * side, 1.0F);
    const auto masks = place_detections(rows, 6 + side * side, sizes);
    EXPECT_EQ(masks.at(0).mask.height, 100);
    EXPECT_NEAR(static_cast<double>(mask_area(masks[0].mask)), 20 * 40, 70);
}

}  // namespace
}  // namespace engine
