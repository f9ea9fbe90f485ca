#include "train/run/run_pictures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "engine/runs/run_store.h"
#include "temp_folder.h"

namespace engine {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

/// Image i of `count` is filled with i * step.
Tensor ramp(std::int64_t count, std::int64_t channels, double step) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t c = 0; c < channels * 2 * 3; ++c)
            values.push_back(static_cast<double>(i) * step);
    }
    return Tensor::of(values, {count, channels, 2, 3}, DType::f32);
}

std::vector<int> color(const Picture& picture, int x, int y) {
    const auto* at = &picture.rgb[static_cast<std::size_t>((y * picture.width + x) * 3)];
    return {at[0], at[1], at[2]};
}

TEST(RunPictures, StandInRowsOfEightWithALineBetween) {
    const Picture grid = drawn({{ramp(10, 1, 0.0625)}});
    EXPECT_EQ(grid.width, 8 * 3 + 7);
    EXPECT_EQ(grid.height, 2 * 2 + 1);
    EXPECT_THAT(color(grid, 4, 1), ElementsAre(16, 16, 16));     // the second
    EXPECT_THAT(color(grid, 4, 3), ElementsAre(143, 143, 143));  // the tenth
    EXPECT_EQ(color(grid, 3, 0), color(grid, 20, 2)) << "lines";
    EXPECT_NE(color(grid, 3, 0), color(grid, 0, 0));
    EXPECT_EQ(drawn({{ramp(3, 1, 0.1)}}).width, 3 * 3 + 2);
}

TEST(RunPictures, AlternateTheRowsOfTheirBands) {
    const Picture grid = drawn({{ramp(9, 1, 0), ramp(9, 1, 0.1)}});
    EXPECT_EQ(grid.height, 4 * 2 + 3);
    EXPECT_THAT(color(grid, 4, 3), ElementsAre(26, 26, 26));
    EXPECT_THAT(color(grid, 0, 9), ElementsAre(204, 204, 204));
}

TEST(RunPictures, MapTheRangeOfValuesToGreyAndColour) {
    const Tensor rgb = Tensor::of({-1, 0, 5}, {1, 3, 1, 1}, DType::f32);
    EXPECT_THAT(color(drawn({{rgb}, -1, 1}), 0, 0), ElementsAre(0, 128, 255));
    const Tensor broken = Tensor::of({std::nan(""), -2}, {1, 2, 1, 1}, DType::f32);
    EXPECT_THAT(color(drawn({{broken}}), 0, 0), ElementsAre(0, 0, 0));
}

TEST(RunPictures, AreListedByStep) {
    const test_support::TempFolder run;
    for (const std::int64_t step : {20, 3, 100})
        keep_pictures(run.path(), step, {{ramp(2, 1, 0.5)}});
    keep_pictures(run.path(), 7, {});
    std::ofstream(run / "samples" / "notes.txt") << "no picture";
    const auto listed = list_sample_pictures(run.path());
    ASSERT_THAT(listed, SizeIs(3));
    EXPECT_EQ(listed[0].step, 3);
    EXPECT_EQ(listed[2].step, 100);
    EXPECT_EQ(load_picture(listed[1].file).rgb, drawn({{ramp(2, 1, 0.5)}}).rgb);
    EXPECT_THAT(list_sample_pictures(run / "none"), SizeIs(0));
}

TEST(RunPictures, AreCopiedAndRemovedByStep) {
    const test_support::TempFolder from, to;
    for (const std::int64_t step : {5, 10, 100})
        keep_pictures(from.path(), step, {{ramp(2, 1, 0.01 * static_cast<double>(step))}});
    const auto steps = [](const std::filesystem::path& run) {
        std::vector<std::int64_t> out;
        for (const auto& each : list_sample_pictures(run)) out.push_back(each.step);
        return out;
    };
    copy_pictures(from.path(), to.path(), 10);
    EXPECT_THAT(steps(to.path()), ElementsAre(5, 10));
    EXPECT_EQ(load_picture(to / "samples" / "10.png").rgb, drawn({{ramp(2, 1, 0.1)}}).rgb);
    EXPECT_THAT(steps(from.path()), ElementsAre(5, 10, 100));
    remove_pictures_after(from.path(), 5);
    EXPECT_THAT(steps(from.path()), ElementsAre(5));
    remove_pictures_after(from / "none", 0);
    copy_pictures(from / "none", to / "other", 10);
    EXPECT_FALSE(std::filesystem::exists(to / "other")) << "nothing to copy";
}

TEST(RunPictures, SayWhereTheyCannotBeWritten) {
    const test_support::TempFolder run;
    std::ofstream(run / "samples") << "a file";
    EXPECT_THROW(keep_pictures(run.path(), 1, {{ramp(1, 1, 0)}}), Error);
    const test_support::TempFolder other;
    keep_pictures(other.path(), 1, {{ramp(1, 1, 0)}});
    EXPECT_THROW(copy_pictures(other.path(), run.path(), 1), Error);
}

}  // namespace
}  // namespace engine
