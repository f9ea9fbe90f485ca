#include "session/live_skips.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "engine/instruments/skips.h"
#include "support/detection_run.h"
#include "support/device_support.h"
#include "support/patience.h"
#include "temp_folder.h"

namespace engine {
namespace {

using test::comes_true;
using test::patience_s;
using test::small_run;
using test::small_text_run;
using testing::ElementsAre;
using testing::IsEmpty;

/// The outcome of a run.
struct Ended {
    std::filesystem::path folder;
    std::vector<StepRecord> rows;
    std::vector<Event> events;

    template <typename T>
    std::vector<T> all() const {
        std::vector<T> out;
        for (const Event& event : events) {
            if (const auto* found = std::get_if<T>(&event)) out.push_back(*found);
        }
        return out;
    }
    std::vector<StepExamined> examined() const { return all<StepExamined>(); }
    std::vector<std::int64_t> examined_steps() const {
        std::vector<std::int64_t> out;
        for (const StepExamined& each : examined()) out.push_back(each.step);
        return out;
    }
    std::vector<std::int64_t> skipped_steps() const {
        std::vector<std::int64_t> out;
        for (const StepRecord& row : rows) {
            if (row.found_inf != 0) out.push_back(row.step);
        }
        return out;
    }
    const StepExamined* of(std::int64_t step) const {
        for (const Event& event : events) {
            const auto* found = std::get_if<StepExamined>(&event);
            if (found != nullptr && found->step == step) return found;
        }
        return nullptr;
    }
    SkipReport report(std::int64_t step) const {
        for (const SkippedStep& each : list_skips(folder).list) {
            if (each.step == step && each.report) return *each.report;
        }
        ADD_FAILURE() << "no report of step " << step;
        return {};
    }
};

class LiveSkipsTest : public testing::Test {
protected:
    ~LiveSkipsTest() override {
        session_.reset();
        thread_.reset();
    }

    static RunConfig armed(RunConfig config, std::int64_t max_steps) {
        config.schedule.kind = "constant";
        config.max_steps = max_steps;
        config.epochs = 1000;
        config.instruments.armed = true;
        config.dataset.test_limit = 32;
        return completed(config);
    }
    /// Has an optimizer with state and no dropout. Its first steps are skipped.
    static RunConfig calibrating(std::int64_t max_steps) {
        RunConfig config = small_run("lenet", "amp-fp16");
        config.optimizer.kind = "adam";
        config.scaler.init_scale = 0x1p24;
        return armed(config, max_steps);
    }
    /// With a static scale no step is skipped, so infinite gradients reach the weights.
    static RunConfig damaging(std::int64_t max_steps) {
        RunConfig config = small_run("mlp", "pure-fp16");
        config.precision.scaler = ScalerMode::constant;
        config.scaler.init_scale = 0x1p40;
        return armed(config, max_steps);
    }
    static RunConfig planted(RunConfig config, PlantKind kind, std::int64_t step,
                             const std::string& where = {}) {
        config.teach.plant = {kind, step, where};
        return config;
    }

    Session& make(const RunConfig& config) {
        session_ = std::make_unique<Session>(config, thread_, store_);
        return *session_;
    }
    Ended ended() {
        EXPECT_TRUE(session_->wait(patience_s)) << "the run does not end";
        Ended out{store_->find(session_->run())->folder, {}, session_->drain()};
        const StepRecordReader record = session_->record();
        for (std::int64_t i = 0; i < record.size(); ++i) out.rows.push_back(record.row(i));
        return out;
    }
    Ended train(const RunConfig& config) {
        make(config).post(Command::start);
        return ended();
    }
    bool steps_to(std::int64_t rows) {
        while (session_->record().size() < rows) {
            const std::int64_t before = session_->record().size();
            session_->post(Command::step);
            if (!comes_true([&] {
                    return session_->record().size() > before &&
                           session_->state() == RunState::paused;
                }))
                return false;
        }
        return true;
    }
    static void expect_same(const std::vector<StepRecord>& a, const std::vector<StepRecord>& b) {
        ASSERT_EQ(a.size(), b.size());
        const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
        for (std::size_t i = 0; i < a.size(); ++i) {
            EXPECT_EQ(bits(a[i].loss), bits(b[i].loss)) << i;
            EXPECT_EQ(bits(a[i].grad_norm), bits(b[i].grad_norm)) << i;
            EXPECT_EQ(a[i].loss_scale, b[i].loss_scale) << i;
            EXPECT_EQ(a[i].updates, b[i].updates) << i;
            EXPECT_EQ(a[i].memory_bytes, b[i].memory_bytes) << i;
        }
    }

    test_support::TempFolder root_;
    std::shared_ptr<RunStore> store_ = std::make_shared<RunStore>(root_.path());
    std::shared_ptr<ComputeThread> thread_ = std::make_shared<ComputeThread>();
    std::unique_ptr<Session> session_;
};

/// Also runs on the simulated device, where the other tests would take minutes. Leaves out what
/// takes long while training waits.
class LiveSkipsOnDevice : public LiveSkipsTest {};

TEST_F(LiveSkipsOnDevice, EachSkipIsExaminedAndTheTrainingIsThatOfARunWithout) {
    RunConfig config = calibrating(20);
    const Ended watched = train(config);
    EXPECT_EQ(watched.rows.size(), 20U);
    ASSERT_GT(watched.skipped_steps().size(), 2U);
    ASSERT_LT(watched.skipped_steps().size(), 20U);
    EXPECT_EQ(watched.examined_steps(), watched.skipped_steps());
    for (const StepExamined& each : watched.examined()) {
        EXPECT_EQ(each.cause, "scale_too_large");
        EXPECT_EQ(each.verdict.str(), "Benign: the scale was too large.");
    }
    EXPECT_THAT(watched.all<RunWarning>(), IsEmpty());
    config.instruments.armed = false;
    const Ended plain = train(config);
    EXPECT_THAT(plain.examined(), IsEmpty());
    expect_same(watched.rows, plain.rows);
}

/// Live examination uses the state before the update; it must equal the result of computing the run
/// again from its start.
TEST_F(LiveSkipsTest, TheReportIsThatOfTheStepComputedAgainFromTheStart) {
    const Ended run = train(calibrating(12));
    const std::int64_t last = run.skipped_steps().back();
    ASSERT_GT(last, 1);
    const SkipReport live = run.report(last);
    EXPECT_EQ(live.loss, static_cast<double>(run.rows[static_cast<std::size_t>(last) - 1].loss));
    EXPECT_EQ(live.samples.size(), 16U);
    EXPECT_EQ(to_json_line(live), to_json_line(examine_skip(run.folder, last)));
}

TEST_F(LiveSkipsTest, ACarriedStateIsThatBeforeTheStep) {
    RunConfig config = small_text_run("amp-fp16");
    config.scaler.init_scale = 0x1p30;
    const Ended run = train(armed(config, 16));
    ASSERT_GT(run.skipped_steps().size(), 1U);
    const std::int64_t last = run.skipped_steps().back();
    EXPECT_EQ(to_json_line(run.report(last)), to_json_line(examine_skip(run.folder, last)));
}

TEST_F(LiveSkipsTest, DamageThatNothingSkippedIsTracedToItsStepAndExaminedOnce) {
    const Ended run = train(damaging(6));
    ASSERT_THAT(run.examined_steps(), ElementsAre(1, 2));
    EXPECT_NE(run.of(1)->cause, "damaged_state");
    EXPECT_EQ(run.of(2)->cause, "damaged_state");
    EXPECT_EQ(run.of(2)->damaged_at, 1);
    EXPECT_EQ(run.report(2).damaged_at, 1);
    EXPECT_EQ(list_skips(run.folder).list.size(), 6U) << "the others are listed";
}

TEST_F(LiveSkipsTest, AnOptimizersFaultIsExaminedAndListedThoughItsRowIsFinite) {
    RunConfig config = small_run("mlp", "fp32");
    config.optimizer.kind = "adam";
    const Ended run = train(planted(armed(config, 5), PlantKind::adam_epsilon_zero, 3, "fc2.bias"));
    ASSERT_THAT(run.examined_steps(), ElementsAre(3, 4));
    EXPECT_TRUE(std::isfinite(run.rows[2].loss));
    EXPECT_EQ(run.of(3)->cause, "optimizer");
    EXPECT_EQ(run.report(3).first->stage, SkipStage::update);
    EXPECT_EQ(run.of(4)->cause, "damaged_state");
    EXPECT_EQ(run.of(4)->damaged_at, 3);
    const SkipList skips = list_skips(run.folder);
    ASSERT_FALSE(skips.list.empty());
    EXPECT_EQ(skips.list.front().step, 3);
    EXPECT_FALSE(skips.list.front().skipped);
}

TEST_F(LiveSkipsTest, TheStepThatEndsTheRunIsExamined) {
    RunConfig config = armed(small_run("lenet", "amp-bf16"), 9);
    config.stop_on_nan = 1;
    const Ended run = train(planted(config, PlantKind::nan_pixel, 3, "5"));
    EXPECT_EQ(session_->state(), RunState::failed);
    ASSERT_THAT(run.examined_steps(), ElementsAre(3));
    EXPECT_EQ(run.examined().front().cause, "bad_input");
    EXPECT_EQ(run.report(3).samples.front().row, 5);
}

TEST_F(LiveSkipsTest, CommandsBeginAndEndTheWatch) {
    RunConfig config = calibrating(0);
    config.instruments.armed = false;
    config.scaler.init_scale = 0x1p60;
    make(config);
    ASSERT_TRUE(steps_to(2));
    session_->post(Command::watch_skips);
    ASSERT_TRUE(steps_to(4));
    session_->post(Command::unwatch_skips);
    ASSERT_TRUE(steps_to(6));
    session_->post(Command::stop);
    EXPECT_THAT(ended().examined_steps(), ElementsAre(3, 4));
}

TEST_F(LiveSkipsTest, APinnedWatchIsNotEndedByACommand) {
    make(calibrating(3)).post(Command::unwatch_skips);
    session_->post(Command::start);
    EXPECT_THAT(ended().examined_steps(), ElementsAre(1, 2, 3));
}

/// A stop cancels an examination.
TEST_F(LiveSkipsTest, AStopGivesAnExaminationUp) {
    RunConfig config = calibrating(0);
    config.scaler.init_scale = 0x1p60;
    make(config).post(Command::start);
    ASSERT_TRUE(comes_true([&] { return session_->examination().operations > 0; }));
    session_->post(Command::stop);
    const Ended run = ended();
    EXPECT_EQ(session_->state(), RunState::done);
    EXPECT_EQ(session_->examination().step, 0);
    EXPECT_LE(run.examined().size(), run.skipped_steps().size());
    EXPECT_THAT(run.all<RunFailed>(), IsEmpty());
}

TEST_F(LiveSkipsTest, ASessionThatGoesEndsAnExamination) {
    RunConfig config = calibrating(0);
    config.scaler.init_scale = 0x1p60;
    make(config).post(Command::start);
    ASSERT_TRUE(comes_true([&] { return session_->examination().step > 0; }));
    session_.reset();
}

/// The faults of teach.plant in a run.
struct PlantedFaultCase {
    PlantKind kind;
    const char* model;
    const char* precision;
    SkipCause cause;
    SkipStage stage;
    const char* module;  ///< or name
};

TEST_F(LiveSkipsTest, OfADetectorSaysThatALogOfAnEmptyBoxIsMathematical) {
    RunConfig config = test::small_detection_run("amp-fp16");
    config.scaler.init_scale = 2;  // each scale below it is a step of the examination
    config.threads = 1;
    const Ended run = train(planted(armed(config, 1), PlantKind::empty_box, 1, "1"));
    const SkipReport box = run.report(1);
    EXPECT_EQ(box.cause, SkipCause::mathematical) << "in FP32 too";
    ASSERT_TRUE(box.first);
    EXPECT_EQ(box.first->stage, SkipStage::forward);
    EXPECT_THAT(box.first->op, testing::AnyOf("log", "box_encode"));
}

class EachPlantedFault : public LiveSkipsTest,
                         public testing::WithParamInterface<PlantedFaultCase> {};

TEST_P(EachPlantedFault, IsFoundAsItHappens) {
    const PlantedFaultCase& p = GetParam();
    const std::string model = p.model;
    RunConfig config = model == "rnn-lm"           ? small_text_run(p.precision)
                       : model == "transformer-lm" ? test::small_transformer_run(p.precision)
                                                   : small_run(model, p.precision);
    const Ended run = train(planted(armed(config, 3), p.kind, 3));
    ASSERT_NE(run.of(3), nullptr);
    EXPECT_EQ(run.of(3)->cause, name(p.cause));
    const SkipReport report = run.report(3);
    ASSERT_TRUE(report.first);
    EXPECT_EQ(report.first->stage, p.stage) << name(report.first->stage);
    const BadTensor& first = *report.first;
    EXPECT_THAT(first.module + " " + first.name, testing::HasSubstr(p.module));
}

INSTANTIATE_TEST_SUITE_P(
    Planted, EachPlantedFault,
    testing::Values(
        PlantedFaultCase{PlantKind::scale_attention, "transformer-lm", "amp-fp16",
                         SkipCause::forward_overflow, SkipStage::forward, "attn"},
        PlantedFaultCase{PlantKind::nan_pixel, "lenet", "amp-fp16", SkipCause::bad_input,
                         SkipStage::batch, "image"},
        PlantedFaultCase{PlantKind::log_of_zero, "mlp", "amp-fp16", SkipCause::mathematical,
                         SkipStage::forward, "teach.plant"},
        PlantedFaultCase{PlantKind::zero_norm, "mlp", "amp-fp16", SkipCause::mathematical,
                         SkipStage::forward, "teach.plant"},
        PlantedFaultCase{PlantKind::sqrt_at_zero, "mlp", "amp-fp16", SkipCause::mathematical,
                         SkipStage::backward, "teach.plant"},
        PlantedFaultCase{PlantKind::exp_12, "mlp", "amp-fp16", SkipCause::forward_overflow,
                         SkipStage::forward, "teach.plant"},
        PlantedFaultCase{PlantKind::sum_of_ones, "mlp", "amp-fp16", SkipCause::forward_overflow,
                         SkipStage::forward, "teach.plant"},
        PlantedFaultCase{PlantKind::nan_weight, "lenet", "amp-fp16", SkipCause::damaged_state,
                         SkipStage::state, "conv1.weight"},
        PlantedFaultCase{PlantKind::nan_embedding_row, "transformer-lm", "amp-fp16",
                         SkipCause::damaged_state, SkipStage::state, "transformer.wte.weight"},
        PlantedFaultCase{PlantKind::nan_carried_state, "rnn-lm", "amp-fp16",
                         SkipCause::damaged_state, SkipStage::state, "carried.0"}),
    [](const auto& tested) {
        std::string name = word_of(tested.param.kind);
        std::ranges::replace(name, '-', '_');
        return name;
    });

}  // namespace
}  // namespace engine
