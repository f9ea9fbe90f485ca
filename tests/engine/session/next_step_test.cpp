#include "session/next_step.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "engine/instruments/microscope.h"
#include "engine/instruments/xray.h"
#include "engine/session/session.h"
#include "support/patience.h"
#include "temp_folder.h"

namespace engine {
namespace {

using test::comes_true;
using test::patience_s;

class NextStepTest : public testing::Test {
protected:
    ~NextStepTest() override {
        session_.reset();
        thread_.reset();
    }

    /// Has an optimizer with state and a scaler that skips its first steps. `max_steps` of 0:
    /// endless.
    static RunConfig config(std::int64_t max_steps) {
        RunConfig config;
        config.dataset.kind = "spirals";
        config.model.kind = "mlp";
        config.precision.preset = "amp-fp16";
        config.optimizer.kind = "adam";
        config.schedule.kind = "constant";
        config.scaler.init_scale = 0x1p40;
        config.batch_size = 32;
        config.epochs = 100'000;
        config.max_steps = max_steps;
        config.threads = 1;
        return config;
    }
    Session& make(const RunConfig& config) {
        session_ = std::make_unique<Session>(config, thread_, store_);
        return *session_;
    }
    std::future<NextStepCapture> ask() {
        const auto promise = std::make_shared<std::promise<NextStepCapture>>();
        session_->capture_next_step(
            [promise](NextStepCapture capture) { promise->set_value(std::move(capture)); });
        return promise->get_future();
    }
    static NextStepCapture answer_of(std::future<NextStepCapture>& asked) {
        if (asked.wait_for(std::chrono::seconds(patience_s)) != std::future_status::ready) {
            ADD_FAILURE() << "no answer";
            return {};
        }
        return asked.get();
    }
    NextStepCapture capture() {
        auto asked = ask();
        return answer_of(asked);
    }
    bool reaches(RunState state) {
        return comes_true([&] { return session_->state() == state; });
    }
    bool has_rows(std::int64_t rows) {
        return comes_true([&] { return session_->record().size() >= rows; });
    }
    std::vector<StepRecord> rows() const {
        std::vector<StepRecord> out;
        const StepRecordReader record = session_->record();
        for (std::int64_t i = 0; i < record.size(); ++i) out.push_back(record.row(i));
        return out;
    }
    /// Compares with the same run without requests for a step.
    void expect_as_undisturbed(const std::vector<StepRecord>& found) {
        const auto count = static_cast<std::int64_t>(found.size());
        RunConfig same = config(count);
        make(same).post(Command::start);
        ASSERT_TRUE(session_->wait(patience_s));
        const auto plain = rows();
        ASSERT_EQ(plain.size(), found.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
            EXPECT_EQ(found[i].loss, plain[i].loss) << i;
            EXPECT_EQ(found[i].loss_scale, plain[i].loss_scale) << i;
            EXPECT_EQ(found[i].updates, plain[i].updates) << i;
            EXPECT_EQ(found[i].memory_bytes, plain[i].memory_bytes) << i;
        }
    }

    test_support::TempFolder root_;
    std::shared_ptr<RunStore> store_ = std::make_shared<RunStore>(root_.path());
    std::shared_ptr<ComputeThread> thread_ = std::make_shared<ComputeThread>();
    std::unique_ptr<Session> session_;
};

/// Skipped steps and an applied one, each traced and shadowed while the run is paused.
TEST_F(NextStepTest, OfAPausedRunIsItsComingStepAndLeavesTheTrainingAsItWas) {
    Session& session = make(config(0));
    session.post(Command::step);
    std::vector<CapturedStep> kept;  // as a page keeps them
    for (std::int64_t step = 2; step <= 40; ++step) {
        ASSERT_TRUE(has_rows(step - 1) && reaches(RunState::paused));
        const NextStepCapture found = capture();
        ASSERT_TRUE(found.step) << found.problem.str();
        kept.push_back(*found.step);
        EXPECT_EQ(found.step->step(), step);
        const double loss = xray_step(*found.step).loss;
        EXPECT_EQ(shadow_histograms(*found.step).step, step);
        session.post(Command::step);
        ASSERT_TRUE(has_rows(step));
        EXPECT_EQ(static_cast<float>(loss), session.record().row(step - 1).loss);
    }
    ASSERT_TRUE(reaches(RunState::paused));
    const auto trained = rows();
    ASSERT_EQ(trained.size(), 40U);
    EXPECT_GT(trained.back().updates, 0) << "no step was applied";
    EXPECT_LT(trained.back().updates, 40) << "no step was skipped";
    expect_as_undisturbed(trained);
}

TEST_F(NextStepTest, OfARunThatTrainsIsTakenBetweenTwoSteps) {
    Session& session = make(config(0));
    session.post(Command::start);
    ASSERT_TRUE(has_rows(1));
    std::vector<std::pair<std::int64_t, double>> traced;
    for (int i = 0; i < 5; ++i) {
        const std::int64_t before = session.record().size();
        const NextStepCapture found = capture();
        ASSERT_TRUE(found.step) << found.problem.str();
        EXPECT_GT(found.step->step(), before);
        traced.emplace_back(found.step->step(), xray_step(*found.step).loss);
        ASSERT_TRUE(has_rows(found.step->step()));
    }
    session.post(Command::stop);
    ASSERT_TRUE(session.wait(patience_s));
    const auto trained = rows();
    for (const auto& [step, loss] : traced)
        EXPECT_EQ(static_cast<float>(loss), trained.at(static_cast<std::size_t>(step) - 1).loss);
    expect_as_undisturbed(trained);
}

TEST_F(NextStepTest, AskedWhileTheRunPreparesIsItsFirst) {
    Session& session = make(config(0));
    session.post(Command::step);
    ASSERT_TRUE(comes_true([&] { return session.state() != RunState::idle; }));
    const NextStepCapture found = capture();
    ASSERT_TRUE(found.step) << found.problem.str();
    EXPECT_LE(found.step->step(), 2);
}

TEST_F(NextStepTest, OfARunThatHasNotStartedIsRefused) {
    make(config(0));
    const NextStepCapture found = capture();
    EXPECT_FALSE(found.step);
    EXPECT_EQ(found.problem.str(), "The run has not started yet.");
}

TEST_F(NextStepTest, OfARunThatHasEndedIsRefused) {
    Session& session = make(config(3));
    session.post(Command::start);
    ASSERT_TRUE(session.wait(patience_s));
    for (int i = 0; i < 2; ++i) {
        const NextStepCapture found = capture();
        EXPECT_FALSE(found.step);
        EXPECT_EQ(found.problem.str(), "The run has ended, so there is no next step.");
    }
}

/// Each request is answered and the session ends, in either order.
TEST_F(NextStepTest, AskedForWhileTheRunStopsIsAnswered) {
    for (int round = 0; round < 10; ++round) {
        Session& session = make(config(0));
        session.post(Command::start);
        ASSERT_TRUE(has_rows(1));
        std::vector<std::future<NextStepCapture>> asked;
        for (int i = 0; i < 3; ++i) asked.push_back(ask());
        session.post(Command::stop);
        for (int i = 0; i < 3; ++i) asked.push_back(ask());
        for (auto& each : asked) {
            const NextStepCapture found = answer_of(each);
            EXPECT_NE(found.step.has_value(), !found.problem.empty());
        }
        ASSERT_TRUE(session.wait(patience_s));
    }
}

TEST_F(NextStepTest, AskedForOfASessionThatGoesIsAnswered) {
    make(config(0)).post(Command::start);
    auto asked = ask();
    session_.reset();
    const NextStepCapture found = answer_of(asked);
    EXPECT_NE(found.step.has_value(), !found.problem.empty());
}

TEST_F(NextStepTest, AnswersAfterItsEndAtOnce) {
    NextStep next;
    int answers = 0;
    const auto count = [&](const NextStepCapture& capture) {
        EXPECT_EQ(capture.problem.str(), "over");
        ++answers;
    };
    next.ask(count);
    EXPECT_TRUE(next.asked());
    EXPECT_EQ(answers, 0);
    next.close(msg("over"));
    EXPECT_EQ(answers, 1);
    EXPECT_FALSE(next.asked());
    next.ask(count);
    EXPECT_EQ(answers, 2);
}

}  // namespace
}  // namespace engine
