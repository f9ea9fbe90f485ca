#include "io/coco/run_length.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "support/golden_lines.h"
#include "support/drawn_numbers.h"

// Values of pycocotools: tests/peer/coco_metric.py, which draws the same inputs.
namespace engine {
namespace {

using test_support::golden_lines;
using support::DrawnNumbers;

constexpr const char* mask_cases = "coco_masks.txt.xz";

/// The bitmap of drawn_bitmap() in the script, rows of `width` bytes.
std::vector<std::uint8_t> drawn_bitmap(DrawnNumbers& draw, int height, int width) {
    std::vector<std::uint8_t> rows(static_cast<std::size_t>(height) *
                                   static_cast<std::size_t>(width));
    int value = draw.below(2);
    const int chances = 1 + draw.below(12);
    for (int x = 0; x < width; ++x) {
        for (int y = 0; y < height; ++y) {
            if (draw.one_in(chances)) value ^= 1;
            rows[static_cast<std::size_t>(y * width + x)] = static_cast<std::uint8_t>(value);
        }
    }
    return rows;
}

RunLength drawn_mask(DrawnNumbers& draw, int height, int width) {
    return encode_bitmap(drawn_bitmap(draw, height, width), height, width);
}

TEST(RunLength, TextsAndBitmapsAreThoseOfPycocotools) {
    const auto cases = golden_lines(mask_cases, "bitmap");
    ASSERT_EQ(cases.size(), 500U);
    for (std::size_t i = 0; i < cases.size(); ++i) {
        DrawnNumbers draw(1001, static_cast<std::uint32_t>(i));
        const int height = 1 + draw.below(24), width = 1 + draw.below(24);
        const auto bitmap = drawn_bitmap(draw, height, width);
        const RunLength mask = encode_bitmap(bitmap, height, width);
        EXPECT_EQ(run_length_text(mask), cases[i].at(0)) << i;
        const auto read = read_run_length(cases[i].at(0), height, width);
        ASSERT_TRUE(read) << i;
        EXPECT_EQ(*read, mask) << i;
        EXPECT_EQ(decode_bitmap(*read), bitmap) << i;
    }
}

TEST(RunLength, PlainMasks) {
    const std::vector<std::uint8_t> zeros(35, 0), ones(35, 1);
    EXPECT_EQ(encode_bitmap(zeros, 5, 7).counts, (std::vector<std::uint32_t>{35}));
    EXPECT_EQ(encode_bitmap(ones, 5, 7).counts, (std::vector<std::uint32_t>{0, 35}));
    EXPECT_EQ(encode_bitmap(std::vector<std::uint8_t>{0}, 1, 1).counts,
              (std::vector<std::uint32_t>{1}));
    EXPECT_EQ(encode_bitmap(std::vector<std::uint8_t>{9}, 1, 1).counts,
              (std::vector<std::uint32_t>{0, 1}));
    const RunLength column = encode_bitmap(std::vector<std::uint8_t>{0, 1, 1, 0, 1}, 5, 1);
    EXPECT_EQ(column.counts, (std::vector<std::uint32_t>{1, 2, 1, 1}));
    EXPECT_EQ(decode_bitmap(column), (std::vector<std::uint8_t>{0, 1, 1, 0, 1}));
    EXPECT_EQ(mask_box(encode_bitmap(zeros, 5, 7)), (std::array<double, 4>{}));
    EXPECT_EQ(mask_box(column), (std::array<double, 4>{0, 1, 1, 4}));
}

TEST(RunLength, UnionIntersectionAreaAndBox) {
    const auto cases = golden_lines(mask_cases, "union");
    ASSERT_EQ(cases.size(), 150U);
    for (std::size_t i = 0; i < cases.size(); ++i) {
        DrawnNumbers draw(1003, static_cast<std::uint32_t>(i));
        const int height = 1 + draw.below(20), width = 1 + draw.below(20);
        std::vector<RunLength> masks(static_cast<std::size_t>(2 + draw.below(3)));
        for (RunLength& mask : masks) mask = drawn_mask(draw, height, width);
        const RunLength whole = unite(masks), common = intersect(masks[0], masks[1]);
        EXPECT_EQ(run_length_text(whole), cases[i].at(0)) << i;
        EXPECT_EQ(run_length_text(common), cases[i].at(1)) << i;
        EXPECT_EQ(mask_area(whole), std::stoll(cases[i].at(2))) << i;
        EXPECT_EQ(common_area(masks[0], masks[1]), std::stoll(cases[i].at(3))) << i;
        for (std::size_t side = 0; side < 4; ++side)
            EXPECT_EQ(mask_box(whole)[side], std::stod(cases[i].at(4 + side))) << i;
    }
}

TEST(RunLength, OverlapsHaveTheBitsOfPycocotools) {
    const auto cases = golden_lines(mask_cases, "overlaps");
    ASSERT_EQ(cases.size(), 60U);
    for (std::size_t i = 0; i < cases.size(); ++i) {
        DrawnNumbers draw(1004, static_cast<std::uint32_t>(i));
        const int height = 1 + draw.below(20), width = 1 + draw.below(20);
        std::array<std::vector<std::array<double, 4>>, 2> boxes;
        std::array<std::vector<RunLength>, 2> masks;
        for (auto& each : masks) each.resize(static_cast<std::size_t>(1 + draw.below(3)));
        for (std::size_t side = 0; side < 2; ++side) {
            boxes[side].resize(masks[side].size());
            for (auto& box : boxes[side]) {
                for (std::size_t k = 0; k < 4; ++k)
                    box[k] = draw.below(k < 2 ? 80 : 60) / 4.0 - (k < 2 ? 0 : 1);
            }
        }
        for (auto& each : masks) {
            for (RunLength& mask : each) mask = drawn_mask(draw, height, width);
        }
        std::vector<int> crowd(masks[1].size());
        for (int& each : crowd) each = draw.below(2);
        std::vector<double> values;
        for (const auto& detected : boxes[0]) {
            for (std::size_t k = 0; k < crowd.size(); ++k)
                values.push_back(box_overlap(detected, boxes[1][k], crowd[k] != 0));
        }
        for (const RunLength& detected : masks[0]) {
            for (std::size_t k = 0; k < crowd.size(); ++k)
                values.push_back(mask_overlap(detected, masks[1][k], crowd[k] != 0));
        }
        ASSERT_EQ(values.size(), cases[i].size()) << i;
        for (std::size_t k = 0; k < values.size(); ++k)
            EXPECT_EQ(std::bit_cast<std::uint64_t>(values[k]),
                      std::stoull(cases[i][k], nullptr, 16))
                << i << ", " << k << ": " << values[k];
    }
}

TEST(RunLength, MalformedTextsAreNotRead) {
    ASSERT_TRUE(read_run_length("j<1UU1", 40, 40));
    for (const char* text : {"", "j<1UU", "j<1UV1", "j<1UU10000", "j<1U U1", "\x7f", "j<1UU1\x01",
                             "P", "PPPPPPPPPPPPP0", "O", "0Pb1O", "PPPPPPPPPPPPPP"})
        EXPECT_FALSE(read_run_length(text, 40, 40)) << text;
    // The sum of another size.
    EXPECT_FALSE(read_run_length("j<1UU1", 40, 41));
}

TEST(RunLength, RunsOfLengthZeroInAFileAreRead) {
    const RunLength mask{4, 4, {2, 0, 3, 4, 0, 2, 5, 0}};
    EXPECT_EQ(mask_area(mask), 6);
    EXPECT_EQ(mask_box(mask), (std::array<double, 4>{1, 0, 2, 4}));
    EXPECT_EQ(read_run_length(run_length_text(mask), 4, 4), mask);
    EXPECT_EQ(intersect(mask, mask).counts, (std::vector<std::uint32_t>{5, 6, 5}));
    EXPECT_EQ(common_area(mask, mask), 6);
    EXPECT_EQ(decode_bitmap(unite(std::array{mask, mask})), decode_bitmap(mask));
}

TEST(RunLength, NumberedMasksAreThoseOfTheSingleNumbers) {
    constexpr int width = 7, height = 5;
    std::vector<std::uint16_t> rows;
    for (int i = 0; i < width * height; ++i) rows.push_back(static_cast<std::uint16_t>(i * i % 4));
    rows[3 * width + 6] = 65535;
    const auto found = numbered_masks(rows, height, width);
    ASSERT_EQ(found.size(), 2U) << "squares are 0 or 1 of 4";
    for (const auto& [number, each] : found) {
        std::vector<std::uint8_t> bitmap;
        for (const std::uint16_t value : rows) bitmap.push_back(value == number);
        EXPECT_EQ(each.mask, encode_bitmap(bitmap, height, width)) << number;
    }
    const NumberedMask& lone = found.at(65535);
    EXPECT_EQ((std::array{lone.left, lone.top, lone.right, lone.bottom}), (std::array{6, 3, 7, 4}));
    const NumberedMask& ones = found.at(1);
    EXPECT_EQ((std::array{ones.left, ones.top, ones.right, ones.bottom}), (std::array{0, 0, 7, 5}));
}

}  // namespace
}  // namespace engine
