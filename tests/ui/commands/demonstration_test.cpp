#include "commands/demonstration.h"

#include <gtest/gtest.h>

#include <QAction>
#include <QLabel>
#include <QPushButton>
#include <QTest>
#include <QToolButton>
#include <cmath>

#include "feed/run_track.h"
#include "panels/frame/guide_card.h"
#include "text/event_text.h"
#include "text/format.h"
#include "text/precision_title.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;
using engine::RunState;

struct DemonstrationTest : WindowFixture {
    QAction* action() const {
        for (auto* found : window->findChildren<QAction*>()) {
            if (found->text() == u"Why scale the loss?"_s) return found;
        }
        return nullptr;
    }
    bool waitForState(RunState state) {
        return QTest::qWaitFor([&] { return feed.state() == state; }, 400000);
    }
};

/// The demonstration's runs, limited to some steps.
std::vector<engine::RunConfig> shortened(std::int64_t steps) {
    auto runs = lossScalingRuns();
    for (auto& run : runs) run.max_steps = steps;
    return runs;
}

TEST_F(DemonstrationTest, TheUnscaledRunCanOnlyGuessWhereTheOthersLearn) {
    feed.experiment().open(shortened(150));
    feed.experiment().post(engine::Command::start);
    ASSERT_TRUE(waitForState(RunState::done));
    const auto tracks = feed.tracks();
    ASSERT_EQ(tracks.size(), 3U);
    ASSERT_TRUE(QTest::qWaitFor(
        [&] {
            return std::all_of(tracks.begin(), tracks.end(),
                               [](const auto& track) { return track->rows() == 150; });
        },
        300'000));
    // With two classes of share q and 1 - q, no constant guess has a lower loss than their entropy,
    // ln 2 - 2 (q - 1/2)^2 near the middle. In 4,096 samples q is within 4 standard deviations,
    // 1/32, of 1/2.
    const float guess = static_cast<float>(std::log(2.0) - 2.0 / (32 * 32));
    for (std::int64_t step = 75; step <= 150; ++step) {
        EXPECT_GT(tracks[2]->at(step).loss, guess - 1e-4f) << step;
    }
    // A model that cannot separate the points does not reach half of that loss.
    EXPECT_LT(tracks[0]->latest().loss, guess / 2);
    EXPECT_LT(tracks[1]->latest().loss, guess / 2);
    // ReLU makes about half of the gradients 0 in any precision. In FP16 those that round to 0 are
    // added.
    for (std::int64_t step = 75; step <= 150; ++step) {
        EXPECT_GT(tracks[2]->at(step).grad_zero_share, 0.75f) << step;
        EXPECT_LT(tracks[0]->at(step).grad_zero_share, 0.75f) << step;
        EXPECT_LT(tracks[1]->at(step).grad_zero_share, 0.75f) << step;
    }
}

TEST_F(DemonstrationTest, FitsASmallScreenWithItsGuide) {
    window->resize(1024, 768);
    action()->trigger();
    standsStill();
    ASSERT_TRUE(window->findChild<GuideCard*>()->isVisible());
    EXPECT_LE(window->minimumSizeHint().height(), 768);
    EXPECT_LE(window->minimumSizeHint().width(), 1024);
}

TEST_F(DemonstrationTest, StartsFromTheHelpMenuAndSaysWhatToLookAtUntilItIsClosed) {
    auto* guide = window->findChild<GuideCard*>();
    EXPECT_FALSE(guide->isVisible());
    ASSERT_NE(action(), nullptr);
    EXPECT_TRUE(action()->isEnabled());
    action()->trigger();
    const auto tracks = feed.tracks();
    ASSERT_EQ(tracks.size(), 3U);
    EXPECT_TRUE(guide->isVisible());
    EXPECT_TRUE(guide->findChild<QLabel*>()->text().contains(u"AMP FP16, no scaling stays flat"_s));
    ASSERT_TRUE(QTest::qWaitFor([&] { return tracks[2]->rows() > 2; }, 300'000));
    EXPECT_FALSE(action()->isEnabled());
    EXPECT_EQ(action()->toolTip(), u"A run is in progress. Stop it first."_s);
    commands.stop();
    ASSERT_TRUE(waitForState(RunState::done));
    EXPECT_TRUE(action()->isEnabled());
    const QString measured = guide->findChild<QLabel*>()->text();
    EXPECT_TRUE(measured.contains(u"After "_s)) << measured.toStdString();
    guide->findChild<QPushButton*>()->click();
    EXPECT_EQ(link.run(), tracks[2]) << "and not the run with a scaler";
    EXPECT_EQ(link.selected(), tracks[2]->rows());
    guide->findChild<QToolButton*>()->click();
    EXPECT_FALSE(guide->isVisible());
    action()->trigger();
    EXPECT_TRUE(guide->isVisible()) << "another demonstration explains itself again";
}

TEST_F(DemonstrationTest, IsNotMistakenForAComparisonOfOtherSettings) {
    auto* guide = window->findChild<GuideCard*>();
    auto runs = shortened(2);
    feed.experiment().open(runs);
    EXPECT_FALSE(guide->isVisible());
    runs = lossScalingRuns();
    for (auto& run : runs) run.seed = 7;
    feed.experiment().open(runs);
    EXPECT_TRUE(guide->isVisible()) << "another seed shows the same";
    runs[2].precision.scaler.reset();
    feed.experiment().open(runs);
    EXPECT_FALSE(guide->isVisible());
}

TEST_F(DemonstrationTest, TellsTheUnscaledRunApartByItsTitleAndNotByItsFolder) {
    feed.experiment().open(lossScalingRuns());
    const auto tracks = feed.tracks();
    ASSERT_EQ(tracks.size(), 3U);
    EXPECT_EQ(trackTitle(*tracks[1]), u"AMP FP16"_s);
    EXPECT_EQ(trackTitle(*tracks[2]), u"AMP FP16, no scaling"_s);
    EXPECT_TRUE(tracks[2]->tag.isEmpty());
    EXPECT_TRUE(tracks[2]->hue.dashed) << "one colour, told apart by the dash";
    EXPECT_FALSE(tracks[1]->hue.dashed);
    QStringList shown;
    for (const auto* label : window->findChildren<QLabel*>()) shown << label->text();
    EXPECT_TRUE(shown.contains(u"AMP FP16, no scaling"_s)) << "on its card";
}

TEST(RunTitle, NamesTheScalingOnlyWhereItIsNotThePresets) {
    engine::PrecisionConfig precision;
    precision.preset = "amp-fp16";
    EXPECT_EQ(precisionTitle(precision), u"AMP FP16"_s);
    precision.scaler = engine::ScalerMode::dynamic;
    EXPECT_EQ(precisionTitle(precision), u"AMP FP16"_s);
    precision.scaler = engine::ScalerMode::off;
    EXPECT_EQ(precisionTitle(precision), u"AMP FP16, no scaling"_s);
    precision.scaler = engine::ScalerMode::constant;
    EXPECT_EQ(precisionTitle(precision), u"AMP FP16, static scale"_s);
    precision.preset = "fp32";
    precision.scaler = engine::ScalerMode::dynamic;
    EXPECT_EQ(precisionTitle(precision), u"FP32, dynamic scale"_s);
}

TEST(UnscaledStep, SaysThatItsGradientsAreZeroAndNotThatItNeedsNoScale) {
    engine::StepRecord row{};
    row.loss = 0.693f;
    row.grad_zero_share = 0.97f;
    const double none = std::nan("");
    const StepReason lost = explainStep(row, nullptr, none, false, true);
    EXPECT_EQ(lost.tone, StepReason::Tone::caution);
    EXPECT_TRUE(lost.body.startsWith(percent(0.97) + u" of the gradients are exactly 0"_s))
        << lost.body.toStdString();
    row.grad_zero_share = 0.1f;
    const StepReason small = explainStep(row, nullptr, none, false, true);
    EXPECT_EQ(small.headline, u"Applied without loss scaling."_s);
    const StepReason wide = explainStep(row, nullptr, none, false, false);
    EXPECT_EQ(wide.body, u"This run needs no loss scale."_s);
}

}  // namespace
}  // namespace ui
