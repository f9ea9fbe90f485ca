#include "runs/event_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/event_json.h"
#include "support/part_figures.h"
#include "temp_folder.h"

namespace engine {
namespace {

using testing::ElementsAre;

class Events : public testing::Test {
protected:
    void add(const std::string& line) { text_ += line + '\n'; }
    void add(const Event& event) { add(to_json_line(event)); }
    void warn(std::int64_t step) { add(RunWarning{"1", msg("careful"), step}); }
    void done(std::int64_t steps) {
        add(RunDone{"1", DoneReason::epochs, steps, steps, 0, classified(0.5, 0.8), 1.5, 800, 0});
    }
    void resume(std::int64_t step, const std::string& parent = {}) {
        add(RunResumed{"1", step, 0, parent});
    }
    EventFile read() const {
        folder_.write("events.jsonl", text_);
        return EventFile(folder_.path());
    }
    /// The steps of the warnings, and -1 for an end.
    std::vector<std::int64_t> steps() const {
        std::vector<std::int64_t> out;
        read().for_each([&](Event&& event) {
            if (const auto* warning = std::get_if<RunWarning>(&event)) out.push_back(warning->step);
            if (std::holds_alternative<RunDone>(event)) out.push_back(-1);
        });
        return out;
    }

    const test_support::TempFolder folder_;
    std::string text_;
};

TEST_F(Events, OfARunThatWasResumedEndAtTheStepThatItWentOnFrom) {
    for (const std::int64_t step : {1, 5, 9}) warn(step);
    done(9);
    EXPECT_THAT(steps(), ElementsAre(1, 5, 9, -1));
    resume(5);
    EXPECT_THAT(steps(), ElementsAre(1, 5));
    for (const std::int64_t step : {6, 7}) warn(step);
    done(7);
    EXPECT_THAT(steps(), ElementsAre(1, 5, 6, 7, -1));
    resume(6);
    warn(8);
    EXPECT_THAT(steps(), ElementsAre(1, 5, 6, 8));
    resume(2);  // further back than both
    warn(3);
    EXPECT_THAT(steps(), ElementsAre(1, 3));
    resume(100);  // takes nothing back but an end
    done(3);
    EXPECT_THAT(steps(), ElementsAre(1, 3, -1));
}

TEST_F(Events, OfAnotherRunsContinuationAreKept) {
    warn(9);
    resume(5, "another");
    warn(6);
    EXPECT_THAT(steps(), ElementsAre(9, 6));
}

TEST_F(Events, AreTheSameAsThoseTakenBackOneByOne) {
    std::vector<Event> wanted;
    std::uint32_t random = 1;
    for (int i = 0; i < 400; ++i) {
        random = random * 1664525U + 1013904223U;
        const auto step = static_cast<std::int64_t>(random >> 24U);
        Event event = RunWarning{"1", msg("w"), step};
        if (i % 7 == 3) event = RunResumed{"1", step, 0, {}};
        if (i % 11 == 5) event = RunFailed{"1", ErrorCode::io, msg("f"), {}};
        if (const auto* resumed = std::get_if<RunResumed>(&event))
            take_back_after(resumed->step, wanted);
        wanted.push_back(event);
        add(event);
    }
    std::vector<std::string> lines, wanted_lines;
    for (const Event& event : wanted) wanted_lines.push_back(to_json_line(event));
    read().for_each([&](Event&& event) { lines.push_back(to_json_line(event)); });
    EXPECT_EQ(lines, wanted_lines);
}

TEST_F(Events, SayWhoMadeTheRun) {
    add(R"({"event":"created","run":"12","time":"2026-01-02T03:04:05","microseconds":7,"group":"g"})");
    const EventFile file = read();
    EXPECT_EQ(file.run(), "12");
    EXPECT_EQ(file.group(), "g");
    EXPECT_EQ(file.made().microseconds, 7);
    EXPECT_EQ(file.made().local, "2026-01-02T03:04:05");
}

/// Histories of versions that numbered no groups: their comparisons are compared in speed, too.
TEST_F(Events, OfEarlierComparisonsSayThatTheyTookTurns) {
    const auto turns_of = [&](const std::string& created, std::int64_t seed) {
        text_ = created + '\n';
        RunStarted started{};
        started.run = "1";
        started.config.seed = seed;
        add(started);
        add(started);  // it was resumed alone
        std::vector<std::string> out;
        read().for_each([&](Event&& event) {
            if (const auto* each = std::get_if<RunStarted>(&event)) out.push_back(each->turns);
        });
        return out;
    };
    const std::string earlier = R"({"event":"created","run":"1","group":"g","time":"","microseconds":1})";
    const auto first = turns_of(earlier, 1);
    ASSERT_EQ(first.size(), 2U);
    EXPECT_FALSE(first[0].empty());
    EXPECT_EQ(first[1], "");
    EXPECT_EQ(turns_of(earlier, 1), first) << "of the other run of the comparison";
    EXPECT_NE(turns_of(earlier, 2)[0], first[0]) << "another seed was trained later";
    for (const char* other :
         {R"({"event":"created","run":"1","time":"","microseconds":1})",
          R"({"event":"created","run":"1","group":"g","group_number":3,"time":"","microseconds":1})",
          R"({"event":"created","run":"1","group":"sweep-g","time":"","microseconds":1})"})
        EXPECT_EQ(turns_of(other, 1)[0], "") << other;
}

TEST_F(Events, ThatAreDamagedAreLeftOut) {
    const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
    for (const std::string& value : {deep, "{\"a\":" + deep + "}", std::string(2 << 20, '1'),
                                     '"' + std::string(2 << 20, 'x') + '"', std::string("1e999"),
                                     std::string("{\"a\":1,\"a\":2}")}) {
        add("{\"event\":\"created\",\"run\":\"1\",\"time\":\"\",\"microseconds\":" + value + "}");
        add("{\"event\":\"resumed\",\"run\":\"1\",\"step\":" + value + "}");
        add("{\"event\":\"warning\",\"run\":\"1\",\"message\":" + value + "}");
        add("{\"event\":\"start\",\"run\":\"1\",\"config\":" + value + "}");
        add(value);
    }
    add("{\"event\":\"warning\",\"run\":\"1\",\"run\":\"2\",\"message\":\"m\"}");
    warn(4);
    EXPECT_THAT(steps(), ElementsAre(4));
    EXPECT_EQ(read().run(), "");
    EXPECT_EQ(read().made().microseconds, 0);
}

TEST_F(Events, OfAFolderWithoutThemAreNone) {
    EventFile(folder_ / "absent").for_each([](const Event&) { ADD_FAILURE(); });
    EXPECT_FALSE(last_start(folder_ / "absent"));
    EXPECT_EQ(EventFile(folder_ / "absent").made().microseconds, 0);
}

TEST_F(Events, HoldNoMoreTextsAndMetricsThanOursDo) {
    std::string texts, metrics;
    for (int i = 0; i < 20'000; ++i) {
        texts += i > 0 ? ",\"\"" : "\"\"";
        metrics += ",\"test_m" + std::to_string(i) + "\":1";
    }
    add("{\"event\":\"warning\",\"run\":\"1\",\"message_text\":\"m\",\"message_args\":[" + texts +
        "]}");
    add("{\"event\":\"epoch\",\"run\":\"1\",\"epoch\":1" + metrics + "}");
    read().for_each([](const Event& event) {
        if (const auto* warning = std::get_if<RunWarning>(&event)) {
            EXPECT_LT(warning->message.args.capacity(), 100U);
        }
        if (const auto* epoch = std::get_if<EpochDone>(&event)) {
            EXPECT_LT(epoch->test.metrics.size(), 100U);
        }
    });
}

}  // namespace
}  // namespace engine
