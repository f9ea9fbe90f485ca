#include "train/run/live_board.h"

#include <fstream>

#include "resume_support.h"
#include "support/tensorboard_file.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using test::Ended;
using test_support::TensorboardFile;
using testing::IsEmpty;
using testing::SizeIs;

class LiveBoardTest : public test::ResumedRuns {
protected:
    /// 4 steps an epoch, 12 in all; the first ones are skipped.
    RunConfig logged() {
        RunConfig config = test::small_run("mlp", "amp-fp16");
        config.dataset.train_limit = 64;
        config.dataset.test_limit = 16;
        config.epochs = 3;
        config.device = "cpu";
        config.schedule.kind = "constant";
        config.scaler.init_scale = 1e12;
        config.checkpoint.every_steps = 4;
        config.log.tensorboard = (folder_ / "board").string();
        return config;
    }

    std::vector<TensorboardFile> files_of(const Ended& run) {
        std::vector<fs::path> paths;
        for (const auto& entry :
             fs::directory_iterator(folder_ / "board" / (run.run + "-mlp-amp-fp16")))
            paths.push_back(entry.path());
        std::ranges::sort(paths);
        std::vector<TensorboardFile> out;
        for (const fs::path& path : paths) out.push_back(test_support::read_tensorboard(path));
        return out;
    }

    /// Every scalar is that of the record.
    static void expect_recorded(const TensorboardFile& file, const Ended& run) {
        for (const auto& [step, loss] : file.scalars.at("train/loss")) {
            const StepRecord row = run.record.row(step - 1);
            EXPECT_EQ(loss, row.loss) << step;
            EXPECT_EQ(file.scalars.at("train/loss_scale").at(step), row.loss_scale);
            EXPECT_EQ(file.scalars.at("train/skipped").at(step),
                      static_cast<float>(step - row.updates));
        }
    }
};

TEST_F(LiveBoardTest, HasTheSkippedStepsEachEvaluationAndTheLastStep) {
    const Ended run = train(logged());
    const auto files = files_of(run);
    ASSERT_THAT(files, SizeIs(1));
    const TensorboardFile& file = files.front();
    expect_recorded(file, run);
    const auto& losses = file.scalars.at("train/loss");
    std::int64_t skipped = 0;
    for (std::int64_t step = 1; step <= run.record.size(); ++step) {
        if (run.record.row(step - 1).found_inf == 0) continue;
        ++skipped;
        EXPECT_TRUE(losses.contains(step)) << step;
    }
    EXPECT_GT(skipped, 3);
    for (const std::int64_t step : {4, 8, 12}) {
        EXPECT_TRUE(losses.contains(step)) << step;
        EXPECT_TRUE(file.scalars.at("test/loss").contains(step)) << step;
        EXPECT_TRUE(file.scalars.at("epoch/loss").contains(step)) << step;
    }
    const auto epochs = run.all<EpochDone>();
    EXPECT_EQ(file.scalars.at("test/accuracy").at(12),
              static_cast<float>(epochs.back().test.of("accuracy")));
    EXPECT_THAT(file.hparams, SizeIs(3)) << "with the end";
    EXPECT_EQ(file.restarted_at, 0);
}

TEST_F(LiveBoardTest, HasTheEndOfAnEpochThatIsNotEvaluated) {
    RunConfig config = logged();
    config.evaluation.every_epochs = 0;
    const auto files = files_of(train(config));
    ASSERT_THAT(files, SizeIs(1));
    for (const std::int64_t step : {4, 8, 12})
        EXPECT_TRUE(files.front().scalars.at("epoch/loss").contains(step)) << step;
    EXPECT_THAT(files.front().scalars.at("test/loss"), SizeIs(1)) << "the end";
}

TEST_F(LiveBoardTest, AShortRunIsWrittenBeforeItEnds) {
    RunConfig config = logged();
    config.epochs = 1'000'000;
    Session session(config, thread_, store_);
    session.post(Command::start);
    const fs::path folder = folder_ / "board";
    const auto has_file = [&] {
        std::error_code error;
        for (const auto& entry : fs::recursive_directory_iterator(folder, error))
            if (entry.is_regular_file(error) && entry.file_size(error) > 1000) return true;
        return false;
    };
    EXPECT_TRUE(test::comes_true(has_file));
    EXPECT_TRUE(session.state() != RunState::done);
    session.post(Command::stop);
    EXPECT_TRUE(session.wait(test::patience_s));
}

TEST_F(LiveBoardTest, ARunThatGoesOnAddsAFileWhichSaysWhere) {
    const Ended first = train_to(logged(), 6);
    const Ended whole = resume(first);
    ASSERT_EQ(whole.run, first.run);
    const auto files = files_of(whole);
    ASSERT_THAT(files, SizeIs(2));
    EXPECT_TRUE(files[0].scalars.at("train/loss").contains(6)) << "the last step before the end";
    EXPECT_EQ(files[1].restarted_at, 7);
    EXPECT_GE(files[1].scalars.at("train/loss").begin()->first, 7);
    EXPECT_TRUE(files[1].scalars.at("train/loss").contains(12));
    expect_recorded(files[1], whole);
}

TEST_F(LiveBoardTest, ANewRunFromACheckpointHasAllStepsBeforeIt) {
    const Ended first = train(logged());
    const Ended other = resume(first, "8", {"optimizer.lr=0.001"});
    ASSERT_NE(other.run, first.run);
    const auto files = files_of(other);
    ASSERT_THAT(files, SizeIs(1));
    expect_recorded(files.front(), other);
    for (std::int64_t step = 1; step <= 8; ++step)
        EXPECT_TRUE(files.front().scalars.at("train/loss").contains(step)) << step;
    EXPECT_TRUE(files.front().scalars.at("test/loss").contains(4));
}

TEST_F(LiveBoardTest, AFolderThatCannotBeMadeIsOneWarningAndTheBitsStay) {
    RunConfig config = logged();
    config.log.tensorboard.clear();
    const Ended plain = train(config);
    std::ofstream(folder_ / "file") << "no folder";
    config.log.tensorboard = (folder_ / "file" / "board").string();
    const Ended warned = train(config);
    EXPECT_EQ(warned.figures, plain.figures);
    EXPECT_THAT(warned.all<RunFailed>(), IsEmpty());
    std::int64_t warnings = 0;
    for (const RunWarning& each : warned.all<RunWarning>())
        warnings += each.message.str().find("board") != std::string::npos ? 1 : 0;
    EXPECT_EQ(warnings, 1);
    EXPECT_EQ(train(logged()).figures, plain.figures);
}

}  // namespace
}  // namespace engine
