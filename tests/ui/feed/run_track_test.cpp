#include "feed/run_track.h"

#include <gtest/gtest.h>

#include <limits>

#include "support/list_source.h"
#include "theme/tokens.h"

namespace ui {
namespace {

std::vector<engine::StepRecord> rows(int count) {
    std::vector<engine::StepRecord> out;
    for (int i = 1; i <= count; ++i) {
        engine::StepRecord row{};
        row.step = i;
        row.updates = i - i / 10;
        row.samples = 128 * i;
        row.elapsed_s = 0.01 * i;
        row.loss = 1.f / static_cast<float>(i);
        row.loss_scale = 1024;
        row.found_inf = i % 10 == 0 ? 1 : 0;
        row.scale_ceiling = std::numeric_limits<float>::quiet_NaN();
        out.push_back(row);
    }
    return out;
}

TEST(RunTrack, ReadsEveryRowIntoEverySeries) {
    RunTrack track("1", {});
    track.setSource(listSource(rows(5000)));
    EXPECT_FALSE(track.catchUp(QDeadlineTimer(QDeadlineTimer::Forever)));
    EXPECT_EQ(track.rows(), 5000);
    EXPECT_EQ(track.series(&engine::StepRecord::loss).total(0, 1).max, 1.f);
    EXPECT_EQ(track.series(&engine::StepRecord::found_inf).nextAbove0(0), 9);
    EXPECT_EQ(track.series(&engine::StepRecord::scale_ceiling).total(0, 5000).finite, 0u);
    EXPECT_EQ(track.latest().step, 5000);
    EXPECT_EQ(track.at(10).found_inf, 1);
}

TEST(RunTrack, AnEpochHasTheStepsThatItsRunTellsBeforeTheFirstOneHasEnded) {
    // A last batch of one sample may join the one before it, and only the run knows.
    RunTrack track("1", {});
    track.setSource(listSource(rows(8)));
    track.catchUp(QDeadlineTimer(QDeadlineTimer::Forever));
    engine::RunStarted started{};
    started.config.batch_size = 4;
    started.train_samples = 9;
    const auto second = [&] {
        track.apply(started);
        return track.axis().at(XKind::epoch, 4);
    };
    const double estimated = second();
    started.steps_per_epoch = 2;
    EXPECT_DOUBLE_EQ(second(), estimated * 3 / 2);
}

TEST(RunTrack, LeavesRowsForTheNextTurnWhenTimeIsUp) {
    RunTrack track("1", {});
    track.setSource(listSource(rows(5000)));
    EXPECT_TRUE(track.catchUp(QDeadlineTimer(0)));
    EXPECT_EQ(track.rows(), 0);
}

TEST(RunTrack, KeepsItsSeriesWhereTheyAreWhenItsRecordBegins) {
    RunTrack track("1", {});
    const SeriesPyramid* loss = &track.series(&engine::StepRecord::loss);
    const RowAxis* axis = &track.axis();
    track.setSource(listSource(rows(10)));
    track.catchUp(QDeadlineTimer(QDeadlineTimer::Forever));
    EXPECT_EQ(&track.series(&engine::StepRecord::loss), loss) << "a plot draws from it meanwhile";
    EXPECT_EQ(loss->size(), 10);
    EXPECT_EQ(&track.axis(), axis);
}

TEST(RunTrack, ASeriesThatIsAskedForLateHasAllRowsAndGrowsOn) {
    RunTrack track("1", {});
    track.setSource(listSource(rows(5000)));
    track.catchUp(QDeadlineTimer(QDeadlineTimer::Forever), 4000);
    const SeriesPyramid& samples = track.series(&engine::StepRecord::samples);
    EXPECT_EQ(samples.size(), 4000);
    EXPECT_EQ(samples.total(0, 1).last, 128.f);
    track.catchUp(QDeadlineTimer(QDeadlineTimer::Forever));
    EXPECT_EQ(samples.size(), 5000);
    EXPECT_EQ(samples.total(4999, 5000).last, 128.f * 5000);
    EXPECT_EQ(&track.series(&engine::StepRecord::samples), &samples);
}

TEST(RunTrack, FoldsEventsIntoItsState) {
    RunTrack track("", {});
    engine::RunStarted started{};
    started.run = "12";
    started.steps_planned = 158;
    track.apply(started);
    track.apply(engine::StateChanged{"12", engine::RunState::training});
    EXPECT_EQ(track.run(), "12");
    EXPECT_EQ(track.plannedSteps(), 158);
    EXPECT_EQ(track.state(), engine::RunState::training);
}

TEST(RunTrack, KeepsFewOfVeryManyEpochsAndAlwaysTheLast) {
    RunTrack track("1", {});
    for (int i = 1; i <= 100'003; ++i) {
        engine::EpochDone epoch{};
        epoch.epoch = i;
        track.apply(epoch);
    }
    EXPECT_LE(track.epochs().size(), 1024u);
    EXPECT_GE(track.epochs().size(), 256u);
    EXPECT_EQ(track.epochs().back().epoch, 100'003);
    EXPECT_LE(track.events().size(), 4000u);
}

TEST(RunTrack, KeepsFewOfVeryManyEvaluationsWithinAnEpoch) {
    RunTrack track("1", {});
    for (int i = 1; i <= 5000; ++i) {
        engine::EpochDone evaluation{};
        evaluation.step = i;
        evaluation.epoch_ended = false;
        track.apply(evaluation);
    }
    const auto& kept = track.epochs();
    EXPECT_LE(kept.size(), 1024u);
    EXPECT_GE(kept.size(), 512u);
    EXPECT_EQ(kept.front().step, 1);
    EXPECT_EQ(kept.back().step, 5000);
    for (std::size_t i = 1; i + 1 < kept.size(); ++i)
        EXPECT_EQ(kept[i].step - kept[i - 1].step, 8) << "evenly";
}

TEST(FocusTrack, IsTheLastRunWithAScaler) {
    engine::RunConfig fp32;
    fp32.precision.preset = "fp32";
    const auto a = std::make_shared<RunTrack>("1", fp32);
    const auto b = std::make_shared<RunTrack>("2", engine::RunConfig{});
    EXPECT_EQ(focusTrack({a, b}), b);
    EXPECT_EQ(focusTrack({b, a}), b);
    EXPECT_EQ(focusTrack({a}), a);
    EXPECT_EQ(focusTrack({}), nullptr);
}

TEST(RunTrack, OfAnotherProgramHasItsNameAndNoneOfOurDefaults) {
    RunTrack track("7", engine::RunConfig{});
    engine::RunStarted started{};
    started.run = "7";
    started.train_samples = 60000;
    started.origin = engine::RunOrigin{.program = "PyTorch 2.15.0"};
    track.apply(started);
    EXPECT_EQ(trackTitle(track), QStringLiteral("PyTorch AMP FP16"));
    EXPECT_EQ(track.plannedSteps(), 0);
    EXPECT_EQ(track.plannedEpochs(), 0) << "not those of the default settings";
    started.origin->epochs = 90;
    started.steps_planned = 450;
    track.apply(started);
    EXPECT_EQ(track.plannedEpochs(), 90);
    EXPECT_EQ(track.plannedSteps(), 450);
}

using Hues = std::vector<RunHue>;

TEST(RunHues, AreThoseOfThePrecisionsAndADashForTheSecondRun) {
    EXPECT_EQ(runHues({"fp32", "amp-fp16"}), (Hues{{-1, false}, {-1, false}}));
    EXPECT_EQ(runHues({"fp32", "fp32", "amp-fp16"}), (Hues{{-1, false}, {-1, true}, {-1, false}}));
    EXPECT_TRUE(runHues({}).empty());
}

TEST(RunHues, AreOtherOnesWhereTheRunsDoNotDifferInPrecision) {
    EXPECT_EQ(runHues({"amp-fp16", "amp-fp16", "amp-fp16", "fp32"}),
              (Hues{{0, false}, {1, false}, {2, false}, {3, false}}));
    const Hues many = runHues(std::vector<std::string>(10, "fp32"));
    for (std::size_t i = 0; i < many.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) EXPECT_NE(many[i], many[j]) << i << " " << j;
    for (const RunHue& hue : many)
        EXPECT_LT(static_cast<std::size_t>(hue.own), lightTokens().own.size());
}

}  // namespace
}  // namespace ui
