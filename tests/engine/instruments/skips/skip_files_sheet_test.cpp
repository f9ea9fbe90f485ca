#include "instruments/skips/skip_files.h"

#include <gtest/gtest.h>

#include "capsule_support.h"

namespace engine {
namespace {

using test::capsule_after;

SkipReport of_rows(const std::vector<std::int64_t>& rows) {
    SkipReport report;
    for (const std::int64_t row : rows) report.samples.push_back({.row = row});
    return report;
}

/// The pixels of one cell, row by row.
std::vector<std::uint8_t> cell(const Picture& picture, int column, int row, int side) {
    std::vector<std::uint8_t> out;
    for (int y = 0; y < side; ++y) {
        for (int x = 0; x < side; ++x) {
            const int at = (row * (side + 1) + y) * picture.width + column * (side + 1) + x;
            out.push_back(picture.rgb[static_cast<std::size_t>(3 * at)]);
        }
    }
    return out;
}

TEST(SampleSheet, ShowsTheImagesInTheOrderOfTheReport) {
    const StepCapsule capsule = capsule_after(test::small_run("lenet", "fp32"), 0);
    const Shape shape = capsule.batches.front().fields[0].shape;
    const auto side = static_cast<int>(shape[2]);
    const auto one = sample_sheet(capsule, of_rows({3, 0, 1, 2, 4, 5, 6, 7, 8, 9}));
    const auto other = sample_sheet(capsule, of_rows({9, 8, 7, 6, 5, 4, 3, 2, 1, 0}));
    ASSERT_TRUE(one && other);
    EXPECT_EQ(one->width, 8 * (side + 1) - 1);
    EXPECT_EQ(one->height, 2 * (side + 1) - 1);
    EXPECT_EQ(cell(*one, 0, 0, side), cell(*other, 6, 0, side)) << "row 3";
    EXPECT_EQ(cell(*one, 1, 1, side), cell(*other, 0, 0, side)) << "row 9";
    EXPECT_NE(cell(*one, 0, 0, side), cell(*one, 1, 0, side));
}

TEST(SampleSheet, APixelThatIsNaNIsBlackAndLeavesTheOthers) {
    StepCapsule capsule = capsule_after(test::small_run("lenet", "fp32"), 0);
    const Shape shape = capsule.batches.front().fields[0].shape;
    const auto side = static_cast<int>(shape[2]);
    const auto before = sample_sheet(capsule, of_rows({0, 1}));
    capsule.batches.front().fields[0].values<float>()[0] = NAN;
    const auto after = sample_sheet(capsule, of_rows({0, 1}));
    ASSERT_TRUE(before && after);
    EXPECT_EQ(cell(*after, 0, 0, side).front(), 0);
    EXPECT_EQ(cell(*after, 1, 0, side), cell(*before, 1, 0, side));
}

TEST(SampleSheet, OfDataWithoutImagesThereIsNone) {
    EXPECT_FALSE(sample_sheet(capsule_after(test::small_run("mlp", "fp32"), 0), of_rows({0})));
    EXPECT_FALSE(sample_sheet(capsule_after(test::small_run("lenet", "fp32"), 0), of_rows({})));
}

}  // namespace
}  // namespace engine
