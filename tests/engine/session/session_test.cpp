#include "engine/session/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "engine/base/error.h"
#include "record/event_json.h"
#include "support/patience.h"
#include "temp_folder.h"

namespace engine {
namespace {

using namespace std::chrono_literals;
using test::comes_true;
using test::patience_s;

/// A store in its own folder, a compute thread, and a quick run.
class SessionTest : public testing::Test {
protected:
    void SetUp() override {
        store_ = std::make_shared<RunStore>(root_.path());
        thread_ = std::make_shared<ComputeThread>();
    }
    void TearDown() override {
        thread_.reset();
        store_.reset();
    }

    static RunConfig spirals(std::int64_t max_steps) {
        RunConfig config;
        config.dataset.kind = "spirals";
        config.model.kind = "mlp";
        config.batch_size = 32;
        config.epochs = 1000;
        config.max_steps = max_steps;
        config.threads = 1;
        return config;
    }
    std::unique_ptr<Session> make(const RunConfig& config, const SessionOptions& options = {}) {
        return std::make_unique<Session>(config, thread_, store_, options);
    }
    static void wait_for(const Session& session, RunState state) {
        ASSERT_TRUE(comes_true([&] { return session.state() == state; }));
    }
    static void wait_for_rows(const Session& session, std::int64_t rows) {
        ASSERT_TRUE(comes_true([&] { return session.record().size() >= rows; }));
    }
    static std::vector<float> losses(const Session& session) {
        std::vector<float> out;
        const auto record = session.record();
        for (std::int64_t i = 0; i < record.size(); ++i) out.push_back(record.row(i).loss);
        return out;
    }
    template <typename T>
    static std::vector<T> all(const std::vector<Event>& events) {
        std::vector<T> out;
        for (const auto& event : events) {
            if (const auto* found = std::get_if<T>(&event)) out.push_back(*found);
        }
        return out;
    }

    test_support::TempFolder root_;
    std::shared_ptr<RunStore> store_;
    std::shared_ptr<ComputeThread> thread_;
};

TEST_F(SessionTest, RunsToItsLastStepAndTellsItsStory) {
    const auto session = make(spirals(40));
    session->post(Command::start);
    ASSERT_TRUE(session->wait(patience_s));
    EXPECT_EQ(session->state(), RunState::done);
    EXPECT_EQ(session->record().size(), 40);
    const auto events = session->drain();
    ASSERT_EQ(all<RunStarted>(events).size(), 1U);
    EXPECT_EQ(all<RunStarted>(events)[0].steps_planned, 40);
    const auto done = all<RunDone>(events);
    ASSERT_EQ(done.size(), 1U);
    EXPECT_EQ(done[0].reason, DoneReason::max_steps);
    EXPECT_EQ(done[0].updates + done[0].skipped, 40);
    EXPECT_FALSE(std::isnan(done[0].test.of("accuracy")));
    const auto row = session->record().row(39);
    EXPECT_EQ(row.step, 40);
    EXPECT_EQ(row.samples, 40 * 32);
    EXPECT_GT(row.memory_bytes, 0);
    EXPECT_GE(row.peak_bytes, row.memory_bytes);
}

TEST_F(SessionTest, DoesNothingBeforeStart) {
    const auto session = make(spirals(5));
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(session->state(), RunState::idle);
    EXPECT_EQ(session->record().size(), 0);
    EXPECT_TRUE(session->run().empty());
}

TEST_F(SessionTest, StepsOneAtATimeFromIdleAndFromPause) {
    const auto session = make(spirals(1000));
    session->post(Command::step);
    wait_for(*session, RunState::paused);
    EXPECT_EQ(session->record().size(), 1);
    session->post(Command::step);
    wait_for_rows(*session, 2);
    wait_for(*session, RunState::paused);
    EXPECT_EQ(session->record().size(), 2);
}

TEST_F(SessionTest, PausesAndGoesOnToTheSameLossesAsWithoutAPause) {
    // Endless, since otherwise it could end before the pause takes effect.
    RunConfig endless = spirals(0);
    endless.schedule.kind = "constant";
    const auto paused = make(endless);
    paused->post(Command::step);
    wait_for(*paused, RunState::paused);
    paused->post(Command::resume);
    wait_for_rows(*paused, 2);
    paused->post(Command::pause);
    wait_for(*paused, RunState::paused);
    const std::int64_t before = paused->record().size();
    paused->post(Command::resume);
    wait_for_rows(*paused, before + 1);
    paused->post(Command::stop);
    ASSERT_TRUE(paused->wait(patience_s));
    const std::vector<float> with_pauses = losses(*paused);
    ASSERT_GT(std::ssize(with_pauses), before);

    RunConfig same = endless;
    same.max_steps = std::ssize(with_pauses);
    const auto plain = make(same);
    plain->post(Command::start);
    ASSERT_TRUE(plain->wait(patience_s));
    EXPECT_EQ(losses(*plain), with_pauses);
}

TEST_F(SessionTest, StopsTwiceWithoutHarmAndKeepsTheRun) {
    const auto session = make(spirals(0));
    session->post(Command::start);
    wait_for_rows(*session, 3);
    session->post(Command::stop);
    session->post(Command::stop);
    ASSERT_TRUE(session->wait(patience_s));
    const auto done = all<RunDone>(session->drain());
    ASSERT_EQ(done.size(), 1U);
    EXPECT_EQ(done[0].reason, DoneReason::stopped);
    EXPECT_GE(StepRecordReader::open(store_->find(session->run())->folder).size(), 3);
}

TEST_F(SessionTest, ClosesWhileTraining) {
    auto session = make(spirals(0));
    session->post(Command::start);
    wait_for_rows(*session, 3);
    const std::string run = session->run();
    session.reset();
    EXPECT_EQ(store_->find(run)->state, "stopped");
}

TEST_F(SessionTest, RefusesSettingsThatDoNotValidate) {
    RunConfig config = spirals(5);
    config.batch_size = 0;
    try {
        make(config);
        FAIL() << "batch_size 0 was taken";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::settings);
        EXPECT_THAT(error.what(), testing::HasSubstr("batch_size"));
    }
}

TEST_F(SessionTest, FailsWithAClearErrorAndLeavesItsNeighbourTraining) {
    RunConfig broken;
    broken.dataset.kind = "fashion-mnist";
    broken.dataset.path = {"/nowhere/fashion"};
    const auto bad = make(broken);
    const auto good = make(spirals(50));
    bad->post(Command::start);
    good->post(Command::start);
    ASSERT_TRUE(bad->wait(patience_s));
    ASSERT_TRUE(good->wait(patience_s));
    EXPECT_EQ(bad->state(), RunState::failed);
    const auto failed = all<RunFailed>(bad->drain());
    ASSERT_EQ(failed.size(), 1U);
    EXPECT_EQ(failed[0].code, ErrorCode::data);
    EXPECT_THAT(failed[0].message.str(), testing::HasSubstr("/nowhere/fashion"));
    EXPECT_EQ(good->state(), RunState::done);
}

TEST_F(SessionTest, TwoFp32SessionsTakingTurnsAreBitwiseEqual) {
    RunConfig config = spirals(40);
    config.precision.preset = "fp32";
    const auto a = make(config), b = make(config);
    a->post(Command::start);
    b->post(Command::start);
    ASSERT_TRUE(a->wait(patience_s));
    ASSERT_TRUE(b->wait(patience_s));
    EXPECT_EQ(losses(*a), losses(*b));
    EXPECT_EQ(losses(*a).size(), 40U);
}

TEST_F(SessionTest, SkipsHalvesAndGrowsInAmpFp16) {
    constexpr int steps = 80;
    RunConfig config = spirals(steps);
    config.scaler.init_scale = 0x1p40;  // overflows until it has fallen enough
    config.scaler.growth_interval = 20;
    const auto session = make(config);
    session->post(Command::start);
    ASSERT_TRUE(session->wait(patience_s));
    const auto record = session->record();
    const auto first = record.row(0);
    EXPECT_EQ(first.found_inf, 1);
    EXPECT_EQ(first.updates, 0);
    EXPECT_EQ(record.row(1).loss_scale, first.loss_scale / 2);
    EXPECT_TRUE(std::isnan(first.scale_ceiling)) << "a value lost to overflow is unknown";
    bool grew = false;
    for (const auto& event : all<ScaleChanged>(session->drain()))
        grew = grew || event.kind == ScaleChanged::Kind::grown;
    EXPECT_TRUE(grew);
    const auto last = record.row(record.size() - 1);
    EXPECT_EQ(last.step, steps);
    EXPECT_LT(last.updates, steps);
    EXPECT_TRUE(std::isfinite(last.loss));
}

TEST_F(SessionTest, FailsWhenTheScaleFallsThroughItsFloor) {
    RunConfig config = spirals(200);
    config.scaler.init_scale = 0x1p60;
    config.scaler.min_scale = 0x1p50;
    const auto session = make(config);
    session->post(Command::start);
    ASSERT_TRUE(session->wait(patience_s));
    const auto failed = all<RunFailed>(session->drain());
    ASSERT_EQ(failed.size(), 1U);
    EXPECT_EQ(failed[0].code, ErrorCode::training);
    EXPECT_THAT(failed[0].message.str(), testing::HasSubstr("fell below its minimum"));
}

TEST_F(SessionTest, PureFp16SaysThatItsUpdatesVanish) {
    RunConfig config = spirals(60);
    config.precision.preset = "pure-fp16";
    config.optimizer.options["lr"] = 1e-6;
    const auto session = make(config);
    session->post(Command::start);
    ASSERT_TRUE(session->wait(patience_s));
    const auto warnings = all<RunWarning>(session->drain());
    ASSERT_FALSE(warnings.empty());
    EXPECT_THAT(warnings[0].message.str(), testing::HasSubstr("vanish"));
}

TEST_F(SessionTest, AccumulationOfTwoHalvesSeesTheSamplesOfOneWhole) {
    RunConfig config = spirals(20);
    config.accumulate = 2;
    const auto session = make(config);
    session->post(Command::start);
    ASSERT_TRUE(session->wait(patience_s));
    EXPECT_EQ(session->record().row(9).samples, 10 * 64);
}

TEST_F(SessionTest, TellsAnEvaluationOnRequestFromAnEpochsEnd) {
    const auto session = make(spirals(1'000'000));
    session->post(Command::step);
    wait_for(*session, RunState::paused);
    session->post(Command::validate_now);
    std::vector<EpochDone> seen;
    comes_true([&] { return !(seen = all<EpochDone>(session->drain())).empty(); });
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_FALSE(seen[0].epoch_ended);
    EXPECT_EQ(seen[0].step, 1);
    EXPECT_FALSE(std::isnan(seen[0].test.of("accuracy")));
    const auto back = parse_event(to_json_line(seen[0]));
    ASSERT_TRUE(back.has_value());
    EXPECT_FALSE(std::get<EpochDone>(*back).epoch_ended);
}

TEST_F(SessionTest, ValidatesOnRequestWhilePaused) {
    const auto session = make(spirals(1000));
    session->post(Command::step);
    wait_for(*session, RunState::paused);
    session->drain();
    session->post(Command::validate_now);
    std::vector<EpochDone> seen;
    comes_true([&] { return !(seen = all<EpochDone>(session->drain())).empty(); });
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_EQ(seen[0].step, 1);
    EXPECT_FALSE(std::isnan(seen[0].test.of("accuracy")));
    wait_for(*session, RunState::paused);
}

}  // namespace
}  // namespace engine
