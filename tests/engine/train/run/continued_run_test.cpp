#include "train/run/continued_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "runs/checkpoint.h"
#include "support/device_support.h"
#include "temp_folder.h"
#include "train/run/run_loop.h"

namespace engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A run of two steps, which has a checkpoint of the second.
class ContinuedRunTest : public testing::Test {
protected:
    ContinuedRunTest() {
        config_.device = "cpu";
        config_.dataset.train_limit = 32;
        config_.epochs = 1;
        config_.threads = 1;
        RunLoop loop(config_, &store_, SessionOptions{},
                     [this](const Event& event) { store_.append(event); });
        loop.prepare({});
        while (!loop.finished()) loop.train_step();
        loop.settle();
        store_.append(loop.end(loop.reason()));
        from_.run_folder = loop.folder();
        from_.checkpoint = checkpoint_folders(loop.folder()).back().folder;
        data_ = open_data(config_, {}, {});
        trainer_ =
            std::make_unique<Trainer>(config_, Device{}, data_.parts.train.data->schema(), 2);
        home_.emplace(config_, options_, data_.parts, &store_, [](const Event&) {});
    }

    void open(ContinuedRun& run, const RunProgress& progress, bool same_size) {
        run.open(*home_, progress, 2, same_size, metric_column_count(trainer_->task()), {});
    }

    test_support::TempFolder folder_;
    RunStore store_{folder_.path()};
    RunConfig config_ = test::small_run("mlp", "fp32");
    SessionOptions options_;
    Continuation from_;
    RunData data_;
    std::unique_ptr<Trainer> trainer_;
    std::optional<RunHome> home_;
};

TEST_F(ContinuedRunTest, InPlaceHasTheFolderOfTheRun) {
    ContinuedRun run(from_, config_);
    ASSERT_NE(run.saved(), nullptr);
    EXPECT_EQ(run.saved()->step(), 2);
    open(run, {}, /*same_size=*/true);
    EXPECT_EQ(home_->place().folder, from_.run_folder);
    EXPECT_FALSE(run.needs_checkpoint());
    EXPECT_EQ(run.resumed(*trainer_, 1).parent, "");
}

TEST_F(ContinuedRunTest, WithOtherSamplesIsANewRunWithARecordOfItsParentsSteps) {
    ContinuedRun run(from_, config_);
    open(run, {}, /*same_size=*/false);
    EXPECT_NE(home_->place().folder, from_.run_folder);
    EXPECT_TRUE(run.needs_checkpoint());
    run.copy_parent(*home_, {}, 2);
    EXPECT_EQ(home_->record().size(), 2);
    EXPECT_EQ(run.resumed(*trainer_, 1).parent, from_.run_folder.filename().string());
}

TEST_F(ContinuedRunTest, WithOtherSamplesDoesNotGoOnWithinAnEpoch) {
    ContinuedRun run(from_, config_);
    try {
        open(run, {.batch = 1}, /*same_size=*/false);
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::data);
        EXPECT_THAT(error.message().str(), HasSubstr("the checkpoint of step 2 lies within"));
    }
}

TEST_F(ContinuedRunTest, WithoutACheckpointSaysThatNothingIsTakenOverAndNamesOtherThreads) {
    from_.checkpoint.clear();
    ContinuedRun run(from_, config_);
    EXPECT_EQ(run.saved(), nullptr);
    EXPECT_FALSE(run.needs_checkpoint());
    std::vector<std::string> restored;
    for (const Message& each : run.resumed(*trainer_, 3).restored) restored.push_back(each.str());
    EXPECT_THAT(restored,
                ElementsAre(HasSubstr("starts again"), HasSubstr("Threads: 3 instead of 1")));
}

}  // namespace
}  // namespace engine
