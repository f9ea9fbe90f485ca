#include "engine/runs/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> point_labels(const SweepPlan& plan) {
    std::vector<std::string> out;
    for (const SweepPoint& point : plan.points) out.push_back(point.label);
    return out;
}

std::vector<std::string> errors(const SweepPlan& plan) {
    std::vector<std::string> out;
    for (const SettingError& error : plan.errors) out.push_back(error.str());
    return out;
}

SweepRequest grid(const std::vector<std::string>& axes) {
    SweepRequest request;
    request.grid = axes;
    return request;
}

double lr(const RunConfig& config) { return std::get<double>(config.optimizer.options.at("lr")); }

TEST(PlanSweep, AGridIsEveryCombinationTheLastFieldFastest) {
    const SweepPlan plan = plan_sweep(grid({"optimizer.lr=0.1,0.01", "batch_size=32,64"}));
    EXPECT_THAT(errors(plan), IsEmpty());
    EXPECT_THAT(point_labels(plan),
                ElementsAre("optimizer.lr=0.1 batch_size=32", "optimizer.lr=0.1 batch_size=64",
                            "optimizer.lr=0.01 batch_size=32", "optimizer.lr=0.01 batch_size=64"));
    EXPECT_EQ(lr(plan.points[2].config), 0.01);
    EXPECT_EQ(plan.points[3].config.batch_size, 64);
}

TEST(PlanSweep, ValuesMayBeListsAndQuotedTexts) {
    const SweepPlan plan =
        plan_sweep(grid({"model.kind=mlp", "model.options.hidden=[64,64],[32]",
                         R"(dataset={"kind":"mnist","path":"a,b"},{"kind":"mnist","path":"c"})"}));
    EXPECT_THAT(errors(plan), IsEmpty());
    ASSERT_THAT(plan.points, SizeIs(4));
    EXPECT_EQ(std::get<std::vector<std::int64_t>>(plan.points[0].config.model.options.at("hidden")),
              (std::vector<std::int64_t>{64, 64}));
    EXPECT_THAT(plan.points[0].config.dataset.path,
                ElementsAre(std::filesystem::absolute("a,b").string()));
    EXPECT_THAT(plan.points[3].config.dataset.path,
                ElementsAre(std::filesystem::absolute("c").string()));
}

TEST(PlanSweep, EachLineOfAListIsAPointAndGoesWithEachOfTheGrid) {
    SweepRequest request = grid({"batch_size=32,64"});
    request.list =
        "{\"optimizer.lr\": 0.5}\n\n{\"optimizer\": {\"kind\": \"adam\", \"lr\": 0.001}}\n";
    const SweepPlan plan = plan_sweep(request);
    EXPECT_THAT(errors(plan), IsEmpty());
    ASSERT_THAT(plan.points, SizeIs(4));
    EXPECT_EQ(lr(plan.points[1].config), 0.5);
    EXPECT_EQ(plan.points[1].config.batch_size, 64);
    EXPECT_EQ(plan.points[2].config.optimizer.kind, "adam");
}

TEST(PlanSweep, SettingsOfTheFileAndOverridesHoldForAllPoints) {
    SweepRequest request = grid({"epochs=3,4"});
    request.json = R"({"batch_size": 16, "epochs": 9})";
    request.overrides = {"seed=5"};
    const SweepPlan plan = plan_sweep(request);
    ASSERT_THAT(plan.points, SizeIs(2));
    for (const SweepPoint& point : plan.points) {
        EXPECT_EQ(point.config.batch_size, 16);
        EXPECT_EQ(point.config.seed, 5);
    }
    EXPECT_EQ(plan.points[1].config.epochs, 4);
}

TEST(PlanSweep, ReportsAllErrorsOfAllPointsAtOnceAndEachOnce) {
    SweepRequest request = grid({"optimizer.lr=-1,0.1", "batch_size=0,8", "epocs=1"});
    request.list = "[1]\n{\"seed\": -4}\n";
    EXPECT_THAT(errors(plan_sweep(request)),
                testing::UnorderedElementsAre(
                    HasSubstr("--list: line 1: "), HasSubstr("optimizer.lr: -1"),
                    HasSubstr("batch_size: 0"), HasSubstr("epocs: "), HasSubstr("seed: -4")));
    EXPECT_THAT(errors(plan_sweep(grid({"optimizer.lr", "=3", "seed="}))), SizeIs(3));
}

TEST(PlanSweep, RefusesMoreRunsThanAnyoneWaitsFor) {
    std::string many = "seed=0";
    for (int i = 1; i < 150; ++i) many += "," + std::to_string(i);
    std::string rates = "batch_size=1";
    for (int i = 2; i < 150; ++i) rates += "," + std::to_string(i);
    EXPECT_THAT(errors(plan_sweep(grid({many, rates}))), ElementsAre(HasSubstr("at most 10000")));
    SweepRequest seeds = grid({rates});
    seeds.seeds = 1000;
    EXPECT_THAT(errors(plan_sweep(seeds)), ElementsAre(HasSubstr("at most 10000")));
}

TEST(PlanSweep, LeavesOutAPointThatRepeatsAnEarlierOne) {
    EXPECT_THAT(point_labels(plan_sweep(grid({"optimizer.lr=0.1,0.10,1e-1"}))),
                ElementsAre("optimizer.lr=0.1"));
}

TEST(SweepPlan, IsFoundAgainFromItsRuns) {
    for (const std::int64_t seeds : {1, 3}) {
        SweepRequest request = grid({"optimizer.lr=0.1, 0.01", "batch_size=8,16"});
        request.seeds = seeds;
        request.overrides = {"seed=4"};
        const SweepPlan plan = plan_sweep(request);
        std::vector<QueuedRun> batch;
        for (const QueueEntry& entry : plan.entries()) {
            QueuedRun& run = batch.emplace_back();
            run.entry = entry;
        }
        const SweepPlan found = to_sweep_plan(batch);
        EXPECT_EQ(point_labels(found), point_labels(plan));
        EXPECT_EQ(found.seeds, seeds);
        ASSERT_EQ(found.entries().size(), batch.size());
        for (std::size_t i = 0; i < batch.size(); ++i)
            EXPECT_EQ(found.entries()[i].config, batch[i].entry.config);
    }
}

TEST(SweepPlan, ItsRunsAreThePointsWithEachSeed) {
    SweepRequest request = grid({"optimizer.lr=0.1,0.01"});
    request.overrides = {"seed=3"};
    request.seeds = 2;
    const auto entries = plan_sweep(request).entries();
    ASSERT_THAT(entries, SizeIs(4));
    EXPECT_EQ(entries[0].label, "optimizer.lr=0.1 seed=3");
    EXPECT_EQ(entries[3].label, "optimizer.lr=0.01 seed=4");
    EXPECT_EQ(entries[3].config.seed, 4);
}

TEST(SweepPlan, TheSameRunsHaveTheSameBatchAndOthersAnother) {
    const auto batch = [](const std::vector<std::string>& axes) {
        return plan_sweep(grid(axes)).entries().front().batch;
    };
    EXPECT_EQ(batch({"optimizer.lr=0.1,0.2"}), batch({"optimizer.lr=0.10,0.2"}));
    EXPECT_NE(batch({"optimizer.lr=0.1,0.2"}), batch({"optimizer.lr=0.2,0.1"}));
    EXPECT_NE(batch({"optimizer.lr=0.1,0.2"}), batch({"optimizer.lr=0.1,0.2", "seed=2"}));
}

TEST(PlanSweep, SeedsInTheGridAndANumberOfSeedsExcludeEachOther) {
    SweepRequest request = grid({"seed=1,2"});
    request.seeds = 2;
    EXPECT_THAT(errors(plan_sweep(request)), ElementsAre(HasSubstr("--seeds: 2: use 1")));
}

}  // namespace
}  // namespace engine
