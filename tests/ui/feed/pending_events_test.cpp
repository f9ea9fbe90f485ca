#include "feed/pending_events.h"

#include <gtest/gtest.h>

#include <QDeadlineTimer>

#include "feed/run_track.h"
#include "support/list_source.h"

namespace ui {
namespace {

engine::EpochDone epochAt(std::int64_t step) {
    engine::EpochDone out{};
    out.step = step;
    return out;
}

struct PendingEventsTest : testing::Test {
    PendingEventsTest() { track->setSource(listSource(std::vector<engine::StepRecord>(20))); }
    void read(std::int64_t rows) {
        track->catchUp(QDeadlineTimer(QDeadlineTimer::Forever), rows);
        ASSERT_EQ(track->rows(), rows);
    }
    std::vector<std::int64_t> due() {
        std::vector<std::int64_t> steps;
        for (const auto& each : pending.takeDue()) {
            const auto* epoch = std::get_if<engine::EpochDone>(&each.event);
            steps.push_back(epoch != nullptr ? epoch->step : 0);
        }
        return steps;
    }

    std::shared_ptr<RunTrack> track = std::make_shared<RunTrack>("1", engine::RunConfig{});
    PendingEvents pending;
};

using Steps = std::vector<std::int64_t>;

TEST_F(PendingEventsTest, AnEventComesWithItsRowAndNeverBeforeAnEarlierOne) {
    pending.add(track, epochAt(5));
    pending.add(track, epochAt(10));
    pending.add(track, engine::RunFailed{});  // about no row, and after the others
    read(4);
    EXPECT_EQ(due(), Steps{});
    read(5);
    EXPECT_EQ(due(), Steps{5});
    read(10);
    EXPECT_EQ(due(), (Steps{10, 0}));
    EXPECT_TRUE(pending.empty());
}

TEST_F(PendingEventsTest, OneRunDoesNotHoldUpAnother) {
    const auto other = std::make_shared<RunTrack>("2", engine::RunConfig{});
    pending.add(track, epochAt(5));
    pending.add(other, engine::RunFailed{});
    const auto now = pending.takeDue();
    ASSERT_EQ(now.size(), 1u);
    EXPECT_EQ(now[0].track, other);
}

TEST_F(PendingEventsTest, ARunThatEndedAndIsReadWholeKeepsNone) {
    pending.add(track, epochAt(21));  // its last row was not published
    track->setState(engine::RunState::failed);
    read(19);
    EXPECT_EQ(due(), Steps{});
    read(20);
    EXPECT_EQ(due(), Steps{21});
}

TEST_F(PendingEventsTest, DropsTheEventsOfRunsOffTheScreen) {
    pending.add(track, epochAt(1));
    pending.keepOnly([&](const auto& each) { return each == track; });
    EXPECT_FALSE(pending.empty());
    pending.keepOnly([](const auto&) { return false; });
    EXPECT_TRUE(pending.empty());
}

}  // namespace
}  // namespace ui
