#include "train/run/skipped_batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "data/dataset_descriptor.h"
#include "data/loader/collator.h"
#include "support/device_support.h"
#include "temp_folder.h"

namespace engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class SkippedBatchesTest : public testing::Test {
protected:
    SkippedBatches writer(std::int64_t accumulate) {
        return {place_, data_, options_, accumulate, [](const Event&) {}};
    }
    std::vector<std::int64_t> indices(std::int64_t epoch, std::int64_t batch) {
        const auto sampler = make_sampler(data_, options_);
        const auto plan = sampler->plan(epoch, batch);
        return {plan.indices.begin(), plan.indices.end()};
    }

    test_support::TempFolder folder_;
    RunStore::NewRun place_{.run = "1", .folder = folder_.path()};
    DataPart data_ = open_dataset(test::small_run("lenet", "fp32").dataset, 1).train;
    SamplerOptions options_{.batch_size = 4, .seed = 3};
};

TEST_F(SkippedBatchesTest, KeepsTheSamplesOfAllMicroBatches) {
    auto batches = writer(2);
    batches.add(7, 1, 4);
    batches.add(9, 1, 8);
    const auto found = read_skipped_batches(folder_.path());
    ASSERT_EQ(found.size(), 2U);
    auto both = indices(1, 4);
    const auto second = indices(1, 5);
    both.insert(both.end(), second.begin(), second.end());
    EXPECT_EQ(found.at(7), both);
    EXPECT_EQ(found.at(9).size(), 8U);
}

TEST_F(SkippedBatchesTest, TheLastStepOfAnEpochHasFewerMicroBatches) {
    const std::int64_t last = make_sampler(data_, options_)->batches_per_epoch() - 1;
    writer(3).add(1, 0, last);
    EXPECT_EQ(read_skipped_batches(folder_.path()).at(1), indices(0, last));
}

TEST_F(SkippedBatchesTest, OfAStepThatWasComputedTwiceTheLaterOneCounts) {
    auto batches = writer(1);
    batches.add(5, 0, 1);
    batches.add(5, 0, 2);
    EXPECT_EQ(read_skipped_batches(folder_.path()).at(5), indices(0, 2));
}

TEST_F(SkippedBatchesTest, DamagedLinesAreLeftOut) {
    writer(1).add(5, 0, 1);
    std::ofstream(folder_ / "skips" / "batches.jsonl", std::ios::app)
        << "{\"step\":6,\"samples\":[1,\"x\"]}\n[]\n{\"step\":7,\"samp";
    EXPECT_EQ(read_skipped_batches(folder_.path()).size(), 1U);
}

TEST_F(SkippedBatchesTest, ARunWithoutTheFileHasNone) {
    EXPECT_THAT(read_skipped_batches(folder_.path()), IsEmpty());
}

}  // namespace
}  // namespace engine
