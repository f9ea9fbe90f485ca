#include "engine/runs/disk_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/runs/checkpoint.h"
#include "runs/checkpoint.h"
#include "runs/run_hold.h"
#include "support/expectations.h"
#include "temp_folder.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class DiskUse : public testing::Test {
protected:
    void save(std::int64_t step, bool best = false) {
        CheckpointContent content;
        content.weights = {{"w", Tensor::of({1, 2, 3}, {3}, DType::f32, Device{})}};
        content.state = std::make_shared<nlohmann::json>(
            nlohmann::json{{"step", step}, {"best", best}});
        write_checkpoint(folder_.path(), content);
    }
    std::vector<std::int64_t> steps() const {
        std::vector<std::int64_t> out;
        for (const auto& each : list_checkpoints(folder_.path())) out.push_back(each.step);
        return out;
    }
    RunSummary summary(const std::string& state) const {
        RunSummary run;
        run.folder = folder_.path();
        run.state = state;
        return run;
    }

    const test_support::TempFolder folder_;
};

TEST_F(DiskUse, FreesAllCheckpointsButTheBestAndTheLast) {
    for (const std::int64_t step : {1, 2, 3, 4, 5}) save(step, step == 2);
    const SpareCheckpoints spare = spare_checkpoints(folder_.path());
    EXPECT_EQ(spare.count, 3);
    EXPECT_GT(spare.bytes, 0);
    EXPECT_THAT(steps(), ElementsAre(1, 2, 3, 4, 5)) << "counting removes nothing";
    const SpareCheckpoints freed = free_checkpoints(folder_.path());
    EXPECT_EQ(freed.count, spare.count);
    EXPECT_EQ(freed.bytes, spare.bytes);
    EXPECT_THAT(steps(), ElementsAre(2, 5));
    EXPECT_EQ(free_checkpoints(folder_.path()).count, 0);
}

TEST_F(DiskUse, FreesNothingOfARunThatIsInUse) {
    for (const std::int64_t step : {1, 2, 3}) save(step);
    LeaseSighting seen;
    LeaseState holder;
    const auto hold = RunHold::try_take(folder_.path(), seen, holder);
    ASSERT_NE(hold, nullptr);
    EXPECT_THAT(message_of(ErrorCode::state, [&] { free_checkpoints(folder_.path()); }),
                HasSubstr("the run is being trained"));
    EXPECT_THAT(steps(), ElementsAre(1, 2, 3));
    hold->release();
    free_checkpoints(folder_.path());
    EXPECT_THAT(steps(), ElementsAre(3));
}

TEST_F(DiskUse, CountsFilesAsTheyLieOnDisk) {
    EXPECT_EQ(disk_bytes(folder_ / "absent"), 0);
    const std::int64_t empty = disk_bytes(folder_.path());
    folder_.write("kept", std::string(100'000, 'x'));
    const std::int64_t full = disk_bytes(folder_.path());
    EXPECT_GE(full - empty, 100'000);
    std::ofstream(folder_ / "holes") << "";
    fs::resize_file(folder_ / "holes", 1 << 30);
    EXPECT_LT(disk_bytes(folder_.path()) - full, 1 << 20);
}

TEST_F(DiskUse, MeasuresARunThatEndedAgainWhenItsFolderChanges) {
    FolderFigures sizes;
    std::vector<RunSummary> runs = {summary("done")};
    sizes.fill(runs);
    const std::int64_t first = runs[0].disk_bytes;
    folder_.write("more", std::string(100'000, 'x'));
    fs::last_write_time(folder_.path(), fs::file_time_type::clock::now() + std::chrono::hours(1));
    sizes.fill(runs);
    EXPECT_GE(runs[0].disk_bytes - first, 100'000);
}

}  // namespace
}  // namespace engine
