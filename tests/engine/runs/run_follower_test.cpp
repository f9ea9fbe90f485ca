#include "engine/runs/run_follower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "done_of.h"
#include "made_record.h"

namespace engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A run that a test writes as it goes.
class MadeSource final : public RunSource {
public:
    RunState state() const override { return now; }
    StepRecordReader record() const override { return made ? made->reader() : StepRecordReader(); }
    std::string run() const override { return "7"; }
    std::vector<Event> drain() override { return std::exchange(events, {}); }
    void stop() override {}
    bool shown_before() const override { return shown; }

    void make(std::int64_t steps) { made.emplace(steps, [](std::int64_t) { return 1.0; }); }

    RunState now = RunState::training;
    std::optional<MadeRecord> made;
    std::vector<Event> events;
    bool shown = true;
};

/// Notes what it is shown: "3" for the row of step 3, "@3" for an evaluation after it.
class Notes final : public RunListener {
public:
    explicit Notes(bool with_rows = true) : with_rows_(with_rows) {}
    bool wants_rows() const override { return with_rows_; }
    void rows(std::span<const StepRecord> next) override {
        for (const StepRecord& row : next) seen.push_back(std::to_string(row.step));
    }
    void event(const Event& event) override {
        if (const auto* epoch = std::get_if<EpochDone>(&event))
            seen.push_back("@" + std::to_string(epoch->step));
        if (std::holds_alternative<RunDone>(event)) seen.emplace_back("end");
        if (std::holds_alternative<RunFailed>(event)) seen.emplace_back("failure");
    }
    std::vector<std::string> seen;

private:
    bool with_rows_;
};

EpochDone evaluated_after(std::int64_t step) {
    EpochDone event{};
    event.run = "7";
    event.step = step;
    event.test = classified(0.5, 0.8);
    return event;
}

struct RunFollowerTest : testing::Test {
    MadeSource source;
    Notes notes;
    RunFollower follower{source, notes};
};

TEST_F(RunFollowerTest, ShowsTheRowsOfAStepBeforeTheEventsThatComeAfterIt) {
    source.make(4);
    source.events = {evaluated_after(2), evaluated_after(3)};
    follower.look();
    EXPECT_THAT(notes.seen, ElementsAre("1", "2", "@2", "3", "@3", "4"));
    EXPECT_FALSE(follower.over());
    source.make(5);
    source.now = RunState::done;
    source.events = {done_of("7")};
    follower.look();
    EXPECT_THAT(notes.seen, ElementsAre("1", "2", "@2", "3", "@3", "4", "5", "end"));
    EXPECT_TRUE(follower.over());
}

TEST_F(RunFollowerTest, ShowsNoRowsThatAreNotWanted) {
    Notes events_only(false);
    RunFollower plain(source, events_only);
    source.make(3);
    source.events = {evaluated_after(2)};
    plain.look();
    EXPECT_THAT(events_only.seen, ElementsAre("@2"));
}

/// The rows before the point from which a run goes on were shown once, unless it is another
/// program's run.
TEST_F(RunFollowerTest, BeginsAfterTheStepThatAResumedRunGoesOnFrom) {
    RunResumed resumed{};
    resumed.run = "7";
    resumed.step = 2;
    for (const bool shown : {true, false}) {
        MadeSource again;
        again.shown = shown;
        again.make(4);
        again.events = {resumed};
        Notes seen;
        RunFollower(again, seen).look();
        if (shown)
            EXPECT_THAT(seen.seen, ElementsAre("3", "4"));
        else
            EXPECT_THAT(seen.seen, ElementsAre("1", "2", "3", "4"));
    }
}

TEST_F(RunFollowerTest, GathersTheOutcome) {
    RunStarted started{};
    started.run = "7";
    started.device = "cpu";
    started.metrics = classification_metrics();
    ScaleChanged grown{};
    grown.kind = ScaleChanged::Kind::grown;
    grown.step = 1;
    source.make(2);
    source.now = RunState::done;
    EpochDone left_out = evaluated_after(1);
    left_out.evaluated = false;
    source.events = {started, grown, left_out, evaluated_after(2), done_of("7")};
    follower.look();
    const RunOutcome& outcome = follower.outcome();
    EXPECT_TRUE(outcome.ended);
    EXPECT_EQ(outcome.id, "7");
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_THAT(outcome.failure, IsEmpty());
    EXPECT_EQ(outcome.metric.key, classification_metrics().front().key);
    EXPECT_EQ(outcome.run.device, "cpu");
    EXPECT_EQ(outcome.run.growths, 1);
    EXPECT_EQ(outcome.run.tests.size(), 1u);
    EXPECT_EQ(outcome.run.record.size(), 2);
}

TEST_F(RunFollowerTest, HasTheExitCodeOfAFailureAndOfACheckpointThatIsNotOnTheDisk) {
    RunFailed failed{};
    failed.run = "7";
    failed.code = ErrorCode::data;
    failed.message = msg("The data set is gone.");
    source.now = RunState::failed;
    source.events = {failed};
    follower.look();
    EXPECT_THAT(notes.seen, ElementsAre("failure"));
    EXPECT_EQ(follower.outcome().exit_code, exit_code_of_run(ErrorCode::data));
    EXPECT_EQ(follower.outcome().failure, "The data set is gone.");
    EXPECT_FALSE(follower.outcome().ended);

    MadeSource full;
    full.now = RunState::done;
    RunDone unsaved = done_of("7");
    unsaved.unsaved = 20;
    full.events = {unsaved};
    RunFollower other(full, notes);
    other.look();
    EXPECT_TRUE(other.outcome().ended);
    EXPECT_EQ(other.outcome().exit_code, exit_code(ErrorCode::training));
}

/// Another program cut the file: the run has no record, and its end says so.
TEST_F(RunFollowerTest, ARecordThatCannotBeReadIsLeftOutOfTheOutcome) {
    source.make(3);
    std::filesystem::resize_file(source.made->folder() / "steps.rec", 16);
    source.now = RunState::done;
    source.events = {done_of("7")};
    follower.look();
    ASSERT_TRUE(follower.unreadable());
    EXPECT_EQ(follower.outcome().exit_code, exit_code_of_run(follower.unreadable()->code()));
    EXPECT_EQ(follower.outcome().run.record.size(), 0);
}

}  // namespace
}  // namespace engine
