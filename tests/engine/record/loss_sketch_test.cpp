#include "engine/record/loss_sketch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "record/step_record.h"
#include "temp_folder.h"

namespace engine {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::IsEmpty;
using testing::SizeIs;

void record_losses(const std::filesystem::path& folder, const std::vector<float>& losses) {
    auto writer = StepRecordWriter::create(folder);
    for (std::size_t i = 0; i < losses.size(); ++i) {
        StepRecord row{};
        row.step = static_cast<std::int64_t>(i) + 1;
        row.loss = losses[i];
        writer.append(row);
    }
}

TEST(LossSketch, HasTheMeanOfEachPart) {
    const test_support::TempFolder folder;
    record_losses(folder.path(), {6, 4, 3, 1, 1, 0});
    EXPECT_THAT(loss_sketch(folder.path(), 3), ElementsAre(5, 2, FloatEq(0.5)));
    EXPECT_THAT(loss_sketch(folder.path(), 100), ElementsAre(6, 4, 3, 1, 1, 0));
}

TEST(LossSketch, LeavesOutLossesThatAreNotFinite) {
    const test_support::TempFolder folder;
    record_losses(folder.path(), {4, INFINITY, NAN, NAN, 2, 2});
    const auto sketch = loss_sketch(folder.path(), 3);
    ASSERT_THAT(sketch, SizeIs(3));
    EXPECT_EQ(sketch[0], 4);
    EXPECT_TRUE(std::isnan(sketch[1]));
    EXPECT_EQ(sketch[2], 2);
}

TEST(LossSketch, IsEmptyWithoutARecordOfTwoSteps) {
    const test_support::TempFolder folder, one;
    EXPECT_THAT(loss_sketch(folder.path(), 10), IsEmpty());
    record_losses(one.path(), {1});
    EXPECT_THAT(loss_sketch(one.path(), 10), IsEmpty());
}

}  // namespace
}  // namespace engine
