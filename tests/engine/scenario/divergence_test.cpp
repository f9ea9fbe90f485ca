#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "engine/base/error.h"
#include "engine/runs/run_listing.h"
#include "engine/session/session.h"
#include "temp_folder.h"

namespace engine {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

RunConfig spirals(const std::string& precision) {
    RunConfig config;
    config.dataset.kind = "spirals";
    config.model.kind = "mlp";
    config.model.options["hidden"] = std::vector<std::int64_t>{8};
    config.precision.preset = precision;
    config.batch_size = 32;
    config.max_steps = 40;
    config.threads = 1;
    return config;
}

/// The outcome of a run, and the events that it posted.
struct DivergenceEnd {
    RunState state{};
    std::int64_t rows = 0;
    std::vector<RunWarning> warnings;
    std::vector<RunFailed> failures;
    std::vector<RunDone> done;
};

DivergenceEnd run(const RunConfig& config) {
    const test_support::TempFolder folder;
    Session session(config, std::make_shared<ComputeThread>(),
                    std::make_shared<RunStore>(folder.path()));
    session.post(Command::start);
    EXPECT_TRUE(session.wait(300));
    DivergenceEnd out;
    out.state = session.state();
    out.rows = session.record().size();
    for (const auto& event : session.drain()) {
        if (const auto* warning = std::get_if<RunWarning>(&event)) out.warnings.push_back(*warning);
        if (const auto* failed = std::get_if<RunFailed>(&event)) out.failures.push_back(*failed);
        if (const auto* done = std::get_if<RunDone>(&event)) out.done.push_back(*done);
    }
    return out;
}

/// Has a learning rate that makes the loss NaN within a few steps.
RunConfig diverging(const std::string& precision) {
    RunConfig config = spirals(precision);
    config.optimizer.options["lr"] = 1e30;
    config.stop_on_nan = 5;
    return config;
}

TEST(Divergence, ANonFiniteLossForTheStepsAllowedEndsTheRunAsDiverged) {
    for (const std::string precision : {"fp32", "amp-bf16", "pure-fp16"}) {
        const DivergenceEnd ended = run(diverging(precision));
        EXPECT_EQ(ended.state, RunState::failed) << precision;
        ASSERT_THAT(ended.failures, SizeIs(1)) << precision;
        EXPECT_EQ(ended.failures[0].code, ErrorCode::training);
        EXPECT_THAT(ended.failures[0].message.str(),
                    HasSubstr("the loss has not been finite for 5 steps"));
        EXPECT_THAT(ended.failures[0].hint.str(), HasSubstr("optimizer.lr"));
        ASSERT_THAT(ended.done, SizeIs(1)) << precision;
        EXPECT_EQ(ended.done[0].reason, DoneReason::diverged);
        EXPECT_LT(ended.rows, 40) << precision << ": the rest was not trained";
    }
}

TEST(Divergence, AStaticScalersHintNamesTheScale) {
    RunConfig config = diverging("amp-fp16");
    config.precision.scaler = ScalerMode::constant;
    const DivergenceEnd ended = run(config);
    ASSERT_THAT(ended.failures, SizeIs(1));
    EXPECT_THAT(ended.failures[0].hint.str(), HasSubstr("scaler.init_scale"));
}

TEST(Divergence, NoStepsMeansNever) {
    RunConfig config = diverging("fp32");
    config.stop_on_nan = 0;
    const DivergenceEnd ended = run(config);
    EXPECT_EQ(ended.state, RunState::done);
    EXPECT_EQ(ended.rows, 40);
}

TEST(Divergence, ARunThatEndsByPlanSaysFromWhichStepItsLossWasNotFinite) {
    RunConfig config = diverging("fp32");
    config.stop_on_nan = 0;
    const test_support::TempFolder folder;
    const auto store = std::make_shared<RunStore>(folder.path());
    Session session(config, std::make_shared<ComputeThread>(), store);
    session.post(Command::start);
    ASSERT_TRUE(session.wait(300));
    std::int64_t first = session.record().size() + 1;
    while (first > 1 && !std::isfinite(session.record().row(first - 2).loss)) --first;
    ASSERT_LT(first, 40) << "the loss became NaN";
    const auto summary = store->find(session.run());
    EXPECT_EQ(summary->state, "diverged");
    EXPECT_EQ(summary->diverged_at, first);
    store->rebuild();
    EXPECT_EQ(store->find(session.run())->diverged_at, first);
    const std::string page = run_page({*summary, {}});
    EXPECT_THAT(page, HasSubstr("diverged at step " + std::to_string(first)));
}

TEST(Divergence, ARunWhoseLossStaysFiniteHasNoSuchStep) {
    const DivergenceEnd ended = run(spirals("fp32"));
    ASSERT_THAT(ended.done, SizeIs(1));
    EXPECT_EQ(ended.done[0].diverged_at, 0);
}

TEST(Divergence, AnEpochWithoutAnUpdateIsReported) {
    RunConfig config = spirals("amp-fp16");
    config.dataset.train_limit = 320;
    config.max_steps = 0;
    config.epochs = 2;
    config.scaler.init_scale = 1e38;
    config.scaler.backoff_factor = 0.9999;
    const DivergenceEnd ended = run(config);
    EXPECT_EQ(ended.state, RunState::done);
    ASSERT_THAT(ended.warnings, SizeIs(2)) << "one an epoch";
    EXPECT_THAT(ended.warnings[0].message.str(),
                HasSubstr("No update was applied in epoch 1: all 10 steps were skipped"));
    EXPECT_THAT(ended.warnings[1].message.str(), HasSubstr("in epoch 2: all 10 steps"));
}

TEST(Divergence, AnEpochWithUpdatesIsNotReported) {
    RunConfig config = spirals("amp-fp16");
    config.dataset.train_limit = 320;
    config.max_steps = 0;
    EXPECT_THAT(run(config).warnings, IsEmpty());
}

}  // namespace
}  // namespace engine
