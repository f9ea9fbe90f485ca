#include "feed/run_track.h"

#include "engine/verdict/verdict.h"
#include "panels/verdict/verdict_bar.h"
#include "text/language.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct TrackVerdictTest : WindowFixture {
    void compare() {
        trainShortly({"dataset.train_limit=512", "batch_size=16", "max_steps=60", "epochs=10"},
                     {u"fp32"_s, u"amp-bf16"_s});
    }
};

TEST_F(TrackVerdictTest, IsTheOneOfTheVerdictBarAndComparesRunsThatTookTurns) {
    compare();
    const auto tracks = feed.tracks();
    const engine::Verdict verdict = judgeTracks(*tracks[0], *tracks[1]);
    const auto* line = window->findChild<VerdictLine*>();
    EXPECT_TRUE(QTest::qWaitFor(
        [&] { return line->accessibleName().contains(engineText(verdict.headline)); }, 300'000))
        << line->accessibleName().toStdString() << " and not " << verdict.headline.str();
    EXPECT_FALSE(tracks[0]->started()->turns.empty());
    EXPECT_EQ(tracks[0]->started()->turns, tracks[1]->started()->turns);
    EXPECT_NE(verdict.cost.front().text, "speeds not compared");

    RunTrack alone(tracks[1]->run(), tracks[1]->config());
    engine::RunStarted started = *tracks[1]->started();
    started.turns.clear();
    alone.apply(started);
    for (const auto& event : tracks[1]->events())
        if (std::holds_alternative<engine::EpochDone>(event)) alone.apply(event);
    alone.setSource(recordSource(tracks[1]->reader()));
    alone.catchUp(QDeadlineTimer(QDeadlineTimer::Forever));
    EXPECT_EQ(judgeTracks(*tracks[0], alone).cost.front().text, "speeds not compared");
    // A part in which nothing was evaluated yet.
    EXPECT_EQ(judgeTracks(*tracks[0], *tracks[1], 61).headline.str(), "Too early to say.");
}

}  // namespace
}  // namespace ui
