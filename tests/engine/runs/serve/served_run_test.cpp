#include "runs/serve/served_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/runs/run_store.h"
#include "record/step_record.h"
#include "runs/run_hold.h"
#include "support/part_figures.h"
#include "support/patience.h"
#include "temp_folder.h"

namespace engine {
namespace {

using nlohmann::ordered_json;

/// A run that the test writes, as another process would.
class ServedRunTest : public testing::Test {
protected:
    void SetUp() override {
        made_ = store_.create({}, dir_ / "run");
        writer_.emplace(StepRecordWriter::create(made_.folder));
        RunStarted event{};
        event.run = made_.run;
        event.device = "cpu";
        event.steps_planned = 100;
        store_.append(event);
    }
    /// Rows up to this step, whose loss is `level` and the step.
    void write_to(std::int64_t last, float level = 0) {
        while (writer_->reader().size() < last) {
            StepRecord row{};
            row.step = writer_->reader().size() + 1;
            row.updates = row.step;
            row.loss = level + static_cast<float>(row.step);
            row.loss_scale = 1024;
            writer_->append(row);
        }
    }
    void end(std::int64_t steps) {
        store_.append(RunDone{made_.run, DoneReason::stopped, steps, steps, 0, classified(0.5, 0.8), 1, 1, 1});
        writer_.reset();
    }
    void go_on_from(std::int64_t step) {
        made_ = store_.reopen(made_.folder, step);
        writer_.emplace(StepRecordWriter::open(made_.folder, step));
        RunStarted event{};
        event.run = made_.run;
        event.steps_planned = 100;
        store_.append(event);
        store_.append(RunResumed{made_.run, step, 0, {}, {}});
    }
    /// The answer once the run is in this state and has so many steps.
    ordered_json answer_at(const std::string& cursor, const std::string& state, std::int64_t steps) {
        ordered_json out;
        EXPECT_TRUE(test::comes_true([&] {
            out = served_.answer(cursor);
            const bool there = !out["last"].is_null() && out["last"]["step"] == steps;
            return out["state"] == state && there && !out["behind"];
        })) << out.dump(1);
        return out;
    }
    static std::string text(const ordered_json& answer) { return answer["cursor"]; }
    static std::vector<float> losses(const ordered_json& answer) {
        std::vector<float> out;
        for (const auto& range : answer["buckets"]["loss"]) out.push_back(range[2]);
        return out;
    }

    const test_support::TempFolder dir_;
    RunStore store_{dir_ / "runs"};
    RunStore::NewRun made_;
    std::optional<StepRecordWriter> writer_;
    ServedRun served_{dir_ / "run"};
};

TEST_F(ServedRunTest, AnAnswerHasWhatCameAfterItsCursor) {
    write_to(3);
    const ordered_json first = answer_at("", "training", 3);
    EXPECT_EQ(first["from"], 0);
    EXPECT_EQ(losses(first), (std::vector<float>{1, 2, 3}));
    EXPECT_EQ(first["planned"], 100);
    EXPECT_EQ(first["device"], "cpu");
    EXPECT_EQ(first["last"]["loss_scale"], 1024);
    EXPECT_EQ(first["events"].size(), 0U);
    write_to(5);
    store_.append(CheckpointSaved{made_.run, 5, 1, 1});
    const ordered_json next = answer_at(text(first), "training", 5);
    EXPECT_EQ(next["from"], 2) << "the last bucket may have changed";
    EXPECT_EQ(losses(next), (std::vector<float>{3, 4, 5}));
    end(5);
    const ordered_json last = answer_at(text(next), "stopped", 5);
    EXPECT_EQ(last["from"], 4);
    EXPECT_EQ(last["events"].back()["event"], "done");
    EXPECT_EQ(last["test_loss"], 0.5);
    EXPECT_EQ(served_.answer(text(last))["events"].size(), 0U);
}

TEST_F(ServedRunTest, ACursorOfStepsThatWereTakenBackGetsAllOfThem) {
    write_to(6);
    store_.append(CheckpointSaved{made_.run, 6, 1, 1});
    end(6);
    const ordered_json before = answer_at("", "stopped", 6);
    go_on_from(4);
    write_to(5, 10);
    const ordered_json after = answer_at(text(before), "training", 5);
    EXPECT_EQ(after["from"], 0);
    EXPECT_EQ(losses(after), (std::vector<float>{1, 2, 3, 4, 15}));
    EXPECT_NE(text(after).substr(0, 8), text(before).substr(0, 8));
    for (const auto& event : after["events"]) EXPECT_NE(event["event"], "checkpoint") << "it is void";
}

TEST_F(ServedRunTest, ACursorThatIsNoneGetsAll) {
    write_to(3);
    const std::string good = text(answer_at("", "training", 3));
    for (const std::string& cursor : {std::string("x"), std::string("---"), std::string("a-1-2-3"),
                                      std::string(5000, '-'), good + "-1", good.substr(0, good.find('-')) + "-1--5-0"})
        EXPECT_EQ(served_.answer(cursor)["from"], 0) << cursor;
    const std::string beyond = good.substr(0, good.find('-')) + "-1-999999-0";
    EXPECT_EQ(served_.answer(beyond)["from"], 3);
}

TEST_F(ServedRunTest, ALongRunHasFewBuckets) {
    write_to(10'000);
    const ordered_json answer = answer_at("", "training", 10'000);
    EXPECT_EQ(answer["width"], 8);
    EXPECT_EQ(answer["buckets"]["loss"].size(), 1250U);
    EXPECT_EQ(answer["buckets"]["loss"][0], ordered_json({1, 8, 8}));
}

TEST_F(ServedRunTest, ALongRecordIsNotHeldInMemoryOnceItIsRead) {
    write_to(15'000);  // five chunks
    end(15'000);
    answer_at("", "stopped", 15'000);
    std::ifstream maps("/proc/self/maps");
    const std::string record = (dir_ / "run" / "steps.rec").string();
    int mapped = 0;
    for (std::string line; std::getline(maps, line);) mapped += line.ends_with(record) ? 1 : 0;
    EXPECT_LE(mapped, 3) << "two headers and the chunk of the last step";
}

TEST_F(ServedRunTest, ARunThatIsPausedShowsIt) {
    write_to(2);
    made_.hold->lease().show("paused");
    answer_at("", "paused", 2);
    made_.hold->lease().show("training");
    answer_at("", "training", 2);
}

}  // namespace
}  // namespace engine
