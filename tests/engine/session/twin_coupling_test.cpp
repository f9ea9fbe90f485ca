#include "session/twin_coupling.h"

#include <algorithm>
#include <array>

#include "engine/base/error.h"
#include "engine/runs/checkpoint.h"
#include "engine/runs/group_plan.h"
#include "engine/train/resume.h"
#include "instruments/replay/run_replay.h"
#include "resume_support.h"
#include "support/detection_run.h"
#include "support/device_support.h"

namespace engine {
namespace {

using test::Ended;
using test::small_run;
using test::small_text_run;

class TwinTest : public test::ResumedRuns {
protected:
    struct Pair {
        Ended reference, other;
        std::vector<TwinRow> rows() const {
            const auto reader = TwinRecordReader::open(other.folder);
            std::vector<TwinRow> out(static_cast<std::size_t>(reader.size()));
            reader.rows(0, out);
            return out;
        }
    };

    Pair run(const RunConfig& config, const std::string& reference, const std::string& other,
             const TwinOptions& options = {}) {
        const auto twin = std::make_shared<Twin>(options);
        std::vector<std::unique_ptr<Session>> sessions;
        for (const Twin::Side side : {Twin::Side::reference, Twin::Side::other}) {
            RunConfig own = config;
            own.precision = {};
            own.precision.preset = side == Twin::Side::reference ? reference : other;
            SessionOptions session;
            session.twin = twin;
            session.twin_side = side;
            sessions.push_back(std::make_unique<Session>(completed(own), thread_, store_, session));
        }
        for (const auto& session : sessions) session->post(Command::start);
        return {end(*sessions[0]), end(*sessions[1])};
    }

    Ended end(Session& session) {
        EXPECT_TRUE(session.wait(test::patience_s));
        Ended out{session.run(),
                  {},
                  session.record(),
                  test::computed(session.record()),
                  session.drain()};
        if (!out.run.empty()) out.folder = store_->find(out.run)->folder;
        return out;
    }

    static RunConfig with(RunConfig config, const std::string& precision) {
        config.precision = {};
        config.precision.preset = precision;
        return completed(config);
    }

    /// How the halves of a twin stop: the other one may have made a step more.
    enum class Stop { together, reference_first, other_first };

    /// The runs of a twin of FP32 and AMP BF16 that was stopped after `steps` steps, oldest first.
    std::vector<RunSummary> stopped(const RunConfig& config, std::int64_t steps, Stop stop,
                                    const TwinOptions& twin = {}) {
        SessionOptions options;
        options.group = new_run_group();
        options.twin = std::make_shared<Twin>(twin);
        GroupPlan plan;
        plan.runs.push_back({with(config, "fp32")});
        plan.runs.push_back({with(config, "amp-bf16")});
        plan.twin = twin;
        options.group_plan = group_plan_json(plan);
        Session reference(plan.runs[0].config, thread_, store_, options);
        options.twin_side = Twin::Side::other;
        Session other(plan.runs[1].config, thread_, store_, options);
        const auto step = [](Session& session, std::int64_t to) {
            ASSERT_TRUE(test::comes_true([&] {
                return session.record().size() >= to && session.state() == RunState::paused;
            }));
        };
        for (std::int64_t i = 1; i <= steps; ++i) {
            reference.post(Command::step);
            other.post(Command::step);
            step(reference, i);
            step(other, i);
        }
        if (stop != Stop::together) {
            other.post(Command::step);
            step(other, steps + 1);
        }
        std::array<Session*, 2> order = {&reference, &other};
        if (stop == Stop::other_first) std::ranges::reverse(order);
        for (Session* session : order) {
            session->post(Command::stop);
            EXPECT_TRUE(session->wait(test::patience_s));
        }
        return {*store_->find(reference.run()), *store_->find(other.run())};
    }

    Pair go_on(const std::vector<RunSummary>& runs) {
        const auto members = plan_group_resume(runs);
        std::vector<std::unique_ptr<Session>> sessions;
        for (const GroupMemberPlan& member : members)
            sessions.push_back(std::make_unique<Session>(member.plan.config, thread_, store_,
                                                         member.options()));
        for (const auto& session : sessions) session->post(Command::start);
        EXPECT_EQ(members.at(1).side, Twin::Side::other);
        return {end(*sessions.at(0)), end(*sessions.at(1))};
    }

    static RunConfig spirals(std::int64_t steps) {
        RunConfig config = small_run("mlp", "fp32");
        config.max_steps = steps;
        config.epochs = 1000;
        return config;
    }
};

TEST_F(TwinTest, OfOnePrecisionWithItselfIsBitwiseIdentical) {
    for (const char* precision : {"fp32", "amp-fp16"}) {
        RunConfig config = small_text_run("fp32");
        config.model.options["dropout"] = 0.3;
        config.max_steps = 12;
        config.accumulate = 2;
        config.scaler.init_scale = 1 << 24;
        const Pair pair = run(config, precision, precision);
        EXPECT_EQ(pair.reference.figures, pair.other.figures);
        ASSERT_EQ(pair.other.record.size(), 12);
        for (const TwinRow& row : pair.rows()) {
            if (row.skipped) continue;
            EXPECT_EQ(row.error, 0) << row.step;
            EXPECT_EQ(row.angle, 0) << row.step;
        }
        expect_same_end(pair.reference, pair.other);
    }
}

/// The window opens the record when it gets the start event, while the halves are still being
/// joined.
TEST_F(TwinTest, TheRecordIsThereWithTheStartOfItsRun) {
    SessionOptions options;
    options.twin = std::make_shared<Twin>();
    Session reference(spirals(30), thread_, store_, options);
    options.twin_side = Twin::Side::other;
    Session other(spirals(30), thread_, store_, options);
    const auto started = [](Session& session) {
        for (;;) {
            for (const Event& event : session.drain())
                if (std::holds_alternative<RunStarted>(event)) return session.record();
        }
    };
    reference.post(Command::start);
    const StepRecordReader first = started(reference);
    other.post(Command::start);
    const StepRecordReader second = started(other);
    EXPECT_FALSE(reference.run().empty());
    ASSERT_TRUE(reference.wait(test::patience_s));
    ASSERT_TRUE(other.wait(test::patience_s));
    EXPECT_EQ(first.size(), 30);
    EXPECT_EQ(second.size(), 30);
}

/// Coupling changes nothing unless a half is changed on purpose.
TEST_F(TwinTest, EachHalfIsTheRunThatItWouldBeAlone) {
    const Pair pair = run(spirals(20), "fp32", "amp-bf16");
    RunConfig alone = spirals(20);
    EXPECT_EQ(train(alone).figures, pair.reference.figures);
    alone.precision.preset = "amp-bf16";
    EXPECT_EQ(train(completed(alone)).figures, pair.other.figures);
}

TEST_F(TwinTest, HasARowForEachLayerOfEachStep) {
    const Pair pair = run(spirals(10), "fp32", "amp-bf16");
    const auto reader = TwinRecordReader::open(pair.other.folder);
    EXPECT_EQ(reader.reference(), pair.reference.run);
    EXPECT_THAT(reader.layers(), testing::SizeIs(testing::Ge(2)));
    EXPECT_EQ(reader.steps(), 10);
    const auto rows = pair.rows();
    ASSERT_EQ(rows.size(), 10 * reader.layers().size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(rows[i].step, 1 + static_cast<std::int64_t>(i / reader.layers().size()));
        EXPECT_EQ(rows[i].layer, static_cast<std::int32_t>(i % reader.layers().size()));
        // Four roundings of bf16 in a row and sums of 16 samples: far below one half.
        EXPECT_GT(rows[i].error, 0);
        EXPECT_LT(rows[i].error, 0.5F);
    }
}

/// In the step after a resync the only difference is rounding, as in the first step.
TEST_F(TwinTest, AResyncTakesTheDriftAway) {
    RunConfig config = spirals(60);
    config.optimizer.options["lr"] = 0.5;
    const Pair drifting = run(completed(config), "fp32", "amp-bf16");
    const Pair resynced = run(completed(config), "fp32", "amp-bf16", {.resync_every = 50});
    EXPECT_EQ(drifting.reference.figures, resynced.reference.figures);
    const auto layers = TwinRecordReader::open(resynced.other.folder).layers().size();
    const auto error = [&](const Pair& pair, std::int64_t step) {
        double sum = 0;
        const auto rows = pair.rows();
        for (std::size_t i = 0; i < layers; ++i)
            sum += static_cast<double>(rows[static_cast<std::size_t>(step - 1) * layers + i].error);
        return sum / static_cast<double>(layers);
    };
    EXPECT_EQ(error(drifting, 50), error(resynced, 50)) << "at the end of step 50";
    EXPECT_LT(error(resynced, 51), error(drifting, 51) / 2);
    const auto rows = resynced.rows();
    for (const TwinRow& row : rows) EXPECT_EQ(row.resynced, row.step % 50 == 0);
}

/// After a resync in each step both halves have the same state, so the difference is only rounding.
TEST_F(TwinTest, AResyncInEachStepLeavesRoundingAlone) {
    RunConfig config = small_run("lenet", "fp32");
    config.optimizer.kind = "adamw";
    config.optimizer.options = {{"lr", 1e-3}};
    config.max_steps = 3;
    for (const char* other : {"amp-bf16", "o2-fp16"}) {
        const Pair pair = run(completed(config), "fp32", other, {.resync_every = 1});
        const Pair free = run(completed(config), "fp32", other);
        ASSERT_EQ(pair.rows().size(), free.rows().size()) << other;
        EXPECT_EQ(pair.reference.figures, free.reference.figures) << other;
    }
}

/// A resync copies the optimizer's state, but not its count of updates.
TEST_F(TwinTest, AResyncKeepsTheCountOfSkippedSteps) {
    RunConfig config = spirals(12);
    config.scaler.init_scale = 0x1p30;
    const Pair pair = run(config, "fp32", "amp-fp16", {.resync_every = 2});
    std::int64_t skipped = 0;
    for (std::int64_t i = 0; i < 12; ++i) {
        const StepRecord row = pair.other.record.row(i);
        skipped += row.found_inf != 0 ? 1 : 0;
        EXPECT_EQ(row.updates, row.step - skipped) << row.step;
    }
    EXPECT_GT(skipped, 2);
    EXPECT_EQ(pair.reference.record.row(11).updates, 12);
}

/// The replay of one run does not have the state that the other run brought in.
TEST_F(TwinTest, StepsAfterAChangeByTheTwinAreNotReplayed) {
    RunConfig config = spirals(12);
    config.scaler.init_scale = 0x1p30;
    const Pair resynced = run(config, "fp32", "amp-fp16", {.resync_every = 4});
    EXPECT_EQ(capsule_before(resynced.other.folder, 4).step(), 4);
    EXPECT_THROW(capsule_before(resynced.other.folder, 5), Error);
    EXPECT_EQ(capsule_before(resynced.reference.folder, 12).step(), 12);
    const Pair together = run(config, "fp32", "amp-fp16", {.skip_together = true});
    ASSERT_NE(together.other.record.row(0).found_inf, 0);
    EXPECT_EQ(capsule_before(together.reference.folder, 1).step(), 1);
    EXPECT_THROW(capsule_before(together.reference.folder, 2), Error);
    EXPECT_EQ(capsule_before(together.other.folder, 12).step(), 12);
}

TEST_F(TwinTest, OfStepsThatTheTwinSkippedThoseAfterTheCheckpointPreventAReplay) {
    RunConfig config = spirals(30);
    config.scaler.init_scale = 0x1p30;
    config.scaler.growth_interval = 2;  // steps are skipped to the end
    config.checkpoint.every_steps = 5;
    config.checkpoint.keep = 100;
    const Pair pair = run(config, "fp32", "amp-fp16", {.skip_together = true});
    const auto checkpoints = list_checkpoints(pair.reference.folder);
    int replayed = 0, refused = 0;  // from a checkpoint after the first update
    for (std::int64_t step = 1; step <= 30; ++step) {
        std::int64_t start = 0;
        for (const CheckpointInfo& each : checkpoints)
            if (each.step < step) start = std::max(start, each.step);
        bool alone = true;
        for (std::int64_t at = start + 1; at < step; ++at)
            alone = alone && pair.other.record.row(at - 1).found_inf == 0;
        if (alone) {
            EXPECT_EQ(capsule_before(pair.reference.folder, step).step(), step);
        } else {
            EXPECT_THROW(capsule_before(pair.reference.folder, step), Error) << step;
        }
        const bool later = start > 0 && pair.reference.record.row(start - 1).updates > 0;
        (alone ? replayed : refused) += later ? 1 : 0;
    }
    EXPECT_GT(replayed, 0);
    EXPECT_GT(refused, 0);
}

TEST_F(TwinTest, TheReferenceSkipsWithTheOtherOneIfAsked) {
    RunConfig config = spirals(12);
    config.scaler.init_scale = 0x1p30;
    const Pair alone = run(config, "fp32", "amp-fp16");
    const Pair together = run(config, "fp32", "amp-fp16", {.skip_together = true});
    const auto updates = [](const Ended& run) { return run.record.row(11).updates; };
    ASSERT_LT(updates(alone.other), 12) << "some steps were skipped";
    EXPECT_EQ(updates(alone.reference), 12);
    EXPECT_EQ(updates(together.reference), updates(together.other));
    for (const TwinRow& row : together.rows())
        EXPECT_EQ(row.skipped, together.other.record.row(row.step - 1).found_inf != 0) << row.step;
}

TEST_F(TwinTest, OneHalfGoesOnWhenTheOtherHasEnded) {
    const auto twin = std::make_shared<Twin>();
    SessionOptions options;
    options.twin = twin;
    Session reference(spirals(30), thread_, store_, options);
    options.twin_side = Twin::Side::other;
    Session other(spirals(10), thread_, store_, options);
    reference.post(Command::start);
    other.post(Command::start);
    EXPECT_TRUE(other.wait(test::patience_s));
    EXPECT_TRUE(reference.wait(test::patience_s));
    EXPECT_EQ(reference.record().size(), 30);
    EXPECT_EQ(other.record().size(), 10);
}

TEST_F(TwinTest, StaysInStepWhileOneIsPausedAndGoesOnWhenItIsStopped) {
    const auto twin = std::make_shared<Twin>();
    SessionOptions options;
    options.twin = twin;
    Session reference(spirals(100'000), thread_, store_, options);
    options.twin_side = Twin::Side::other;
    Session other(spirals(100'000), thread_, store_, options);
    reference.post(Command::start);
    other.post(Command::start);
    ASSERT_TRUE(test::comes_true([&] { return other.record().size() >= 5; }));
    other.post(Command::pause);
    ASSERT_TRUE(test::comes_true([&] { return other.state() == RunState::paused; }));
    // The other half computes each step first, so the reference may have one to catch up.
    ASSERT_TRUE(
        test::comes_true([&] { return reference.record().size() >= other.record().size(); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const std::int64_t paused = other.record().size();
    EXPECT_EQ(reference.record().size(), paused);
    other.post(Command::stop);
    EXPECT_TRUE(other.wait(test::patience_s));
    EXPECT_TRUE(test::comes_true([&] { return reference.record().size() >= paused + 5; }));
}

/// The first step of a difference; 0: there is none. NaN equals nothing.
std::int64_t first_difference(const std::vector<TwinRow>& a, const std::vector<TwinRow>& b) {
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        if (!(a[i] == b[i])) return a[i].step;
    return a.size() == b.size() ? 0 : -1;
}

TEST_F(TwinTest, AStoppedTwinGoesOnCoupledWithTheSameRows) {
    const RunConfig config = spirals(12);
    for (const TwinOptions& options : {TwinOptions{}, TwinOptions{.resync_every = 4}}) {
        const Pair whole = run(config, "fp32", "amp-bf16", options);
        const auto runs = stopped(config, 5, Stop::together, options);
        ASSERT_TRUE(is_twin(runs));
        const Pair resumed = go_on(runs);
        EXPECT_EQ(resumed.reference.figures, whole.reference.figures);
        EXPECT_EQ(resumed.other.figures, whole.other.figures);
        EXPECT_EQ(first_difference(resumed.rows(), whole.rows()), 0);
    }
}

TEST_F(TwinTest, TheReferenceStopsWhereTheOtherOneIs) {
    const auto runs = stopped(spirals(12), 5, Stop::reference_first, {.resync_every = 4});
    EXPECT_EQ(runs[0].steps, 6);
    EXPECT_EQ(runs[1].steps, 6);
    EXPECT_EQ(TwinRecordReader::open(runs[1].folder).steps(), 6);
}

TEST_F(TwinTest, TheHalfThatIsBehindCatchesUpBeforeTheyAreCoupledAgain) {
    const RunConfig config = spirals(12);
    const Pair whole = run(config, "fp32", "amp-bf16");
    const auto runs = stopped(config, 5, Stop::other_first);
    ASSERT_EQ(runs[0].steps, 5);
    ASSERT_EQ(runs[1].steps, 6);
    const Pair resumed = go_on(runs);
    EXPECT_EQ(resumed.reference.figures, whole.reference.figures);
    EXPECT_EQ(resumed.other.figures, whole.other.figures);
    auto rows = resumed.rows(), wanted = whole.rows();
    ASSERT_EQ(rows.size(), wanted.size());
    EXPECT_EQ(first_difference(rows, wanted), 6) << "was not compared";
    std::erase_if(rows, [](const TwinRow& row) { return row.step == 6; });
    std::erase_if(wanted, [](const TwinRow& row) { return row.step == 6; });
    EXPECT_EQ(first_difference(rows, wanted), 0);
}

TEST_F(TwinTest, HalvesAtDifferentStepsThatDependOnEachOtherAreRefused) {
    const auto runs = stopped(spirals(12), 5, Stop::other_first, {.skip_together = true});
    try {
        plan_group_resume(runs);
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::state);
        EXPECT_THAT(error.what(), testing::HasSubstr("different steps, 5 and 6"));
    }
}

TEST_F(TwinTest, RefusesModelsThatDiffer) {
    const auto twin = std::make_shared<Twin>();
    SessionOptions options;
    options.twin = twin;
    Session reference(spirals(10), thread_, store_, options);
    options.twin_side = Twin::Side::other;
    RunConfig smaller = spirals(10);
    smaller.model.options["hidden"] = std::vector<std::int64_t>{8};
    Session other(completed(smaller), thread_, store_, options);
    reference.post(Command::start);
    other.post(Command::start);
    EXPECT_TRUE(reference.wait(test::patience_s));
    EXPECT_TRUE(other.wait(test::patience_s));
    EXPECT_TRUE(reference.state() == RunState::failed || other.state() == RunState::failed);
}

TEST_F(TwinTest, TheReferenceOfADetectorTakesTheProposalsOfTheOtherHalf) {
    RunConfig config = test::small_detection_run("fp32");
    config.max_steps = 1;
    config.evaluation.every_epochs = 0;
    config.checkpoint.best = config.checkpoint.at_end = false;
    const auto reference_loss = [&](const std::string& other, bool share) {
        const Pair pair = run(config, "fp32", other, {.share_proposals = share});
        EXPECT_EQ(pair.reference.record.size(), 1);
        return pair.reference.record.row(0).loss;
    };
    const float own = reference_loss("amp-bf16", false);
    EXPECT_NE(reference_loss("amp-bf16", true), own) << "of regions that bf16 moves";
    EXPECT_EQ(reference_loss("fp32", true), own) << "of its own regions";
}

}  // namespace
}  // namespace engine
