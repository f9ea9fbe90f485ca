#include "parallel/liveness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace engine {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;

const Heartbeats::Clock::time_point start{};

TEST(Heartbeats, GoBetweenRank0AndEachOther) {
    EXPECT_THAT(Heartbeats(0, 4, start).peers(), ElementsAre(1, 2, 3));
    EXPECT_THAT(Heartbeats(3, 4, start).peers(), ElementsAre(0));
}

TEST(Heartbeats, AreDueOnceAnInterval) {
    Heartbeats beats(0, 2, start);
    EXPECT_TRUE(beats.due(start));
    EXPECT_FALSE(beats.due(start + Heartbeats::interval / 2));
    EXPECT_TRUE(beats.due(start + Heartbeats::interval));
    EXPECT_FALSE(beats.due(start + Heartbeats::interval));
}

TEST(Heartbeats, ARankIsLostAfterTheLimitAndNotBefore) {
    Heartbeats beats(0, 3, start);
    auto now = start;
    for (; now < start + Heartbeats::limit; now += seconds(1)) {
        beats.received(1, now);
        EXPECT_EQ(beats.silent(now), std::nullopt);
    }
    EXPECT_EQ(beats.silent(now), std::nullopt) << "silent for the limit itself";
    beats.received(1, now);
    EXPECT_EQ(beats.silent(now + seconds(1)), 2);
}

TEST(Heartbeats, RanksOtherThan0HearRank0Alone) {
    Heartbeats beats(2, 3, start);
    std::optional<int> lost;
    for (auto now = start; now <= start + Heartbeats::limit + seconds(1); now += seconds(1)) {
        beats.received(0, now);
        lost = beats.silent(now);
    }
    EXPECT_EQ(lost, std::nullopt);
}

TEST(Heartbeats, TimeInWhichThisProcessWasStoppedDoesNotCountAgainstOthers) {
    Heartbeats beats(1, 2, start);
    EXPECT_EQ(beats.silent(start + seconds(1)), std::nullopt);
    const auto woken = start + seconds(500);
    EXPECT_EQ(beats.silent(woken), std::nullopt);
    auto now = woken;
    for (; now < woken + Heartbeats::limit - seconds(1); now += seconds(1))
        EXPECT_EQ(beats.silent(now), std::nullopt);
    EXPECT_EQ(beats.silent(now), std::nullopt);
    EXPECT_EQ(beats.silent(now + seconds(1)), 0) << "20 seconds of this process's own time";
}

TEST(Heartbeats, AMachineThatPausesAgainAndAgainDoesNotPutOffTheLoss) {
    Heartbeats beats(1, 3, start);
    std::optional<int> lost;
    auto now = start;
    while (!lost && now < start + seconds(60)) {  // 3 seconds of every 8 are a pause
        const bool pauses = (now - start) % seconds(8) == seconds(5);
        now += pauses ? seconds(3) : seconds(1);
        lost = beats.silent(now);
    }
    EXPECT_EQ(lost, 0);
    EXPECT_EQ(now - start, Heartbeats::limit + seconds(3) + seconds(1)) << "but for one pause";
}

TEST(Heartbeats, AMessageReadRightAfterAPauseEndsItsSilenceThere) {
    Heartbeats beats(1, 2, start);
    const auto woken = start + seconds(500);
    beats.received(0, woken);
    EXPECT_EQ(beats.silent(woken), std::nullopt);
    std::optional<int> lost;
    auto now = woken;
    while (!lost && now < woken + seconds(60)) lost = beats.silent(now += seconds(1));
    EXPECT_EQ(now - woken, Heartbeats::limit + seconds(1));
}

TEST(Heartbeats, ALaunchWhoseRanksArePausedTogetherGoesOn) {
    Heartbeats beats(1, 2, start);
    auto now = start;
    for (int pause = 0; pause < 20; ++pause) {
        now += seconds(15);
        EXPECT_EQ(beats.silent(now), std::nullopt) << "woken before rank 0";
        beats.received(0, now + std::chrono::milliseconds(100));
        now += seconds(1);
        EXPECT_EQ(beats.silent(now), std::nullopt);
    }
}

}  // namespace
}  // namespace engine
