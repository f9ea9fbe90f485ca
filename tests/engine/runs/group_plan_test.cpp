#include "engine/runs/group_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "done_of.h"
#include "engine/runs/run_group.h"
#include "temp_folder.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

RunConfig of(const std::string& precision, std::int64_t seed) {
    RunConfig config;
    config.precision.preset = precision;
    config.seed = seed;
    return config;
}

struct GroupPlans : testing::Test {
    GroupPlans() {
        for (const std::int64_t seed : {7, 8})
            for (const char* precision : {"fp32", "amp-fp16"})
                plan.runs.push_back({of(precision, seed), {}});
    }
    RunSummary begin(std::size_t index) {
        const auto run = store.create(plan.runs.at(index).config, {}, group);
        keep_group_plan(run.folder, group_plan_json(plan));
        store.append(done_of(run.run));
        return *store.find(run.run);
    }
    std::vector<std::string> left() const {
        std::vector<std::string> out;
        const auto runs = runs_of_group(store.list(), group);
        for (const auto& run : unstarted_runs(plan_of_group(runs).value(), runs))
            out.push_back(run.config.precision.preset + ' ' + std::to_string(run.config.seed));
        return out;
    }

    test_support::TempFolder dir;
    RunStore store{dir / "runs"};
    std::string group = new_run_group();
    GroupPlan plan;
};

TEST_F(GroupPlans, TellWhichRunsWereNeverBegun) {
    begin(0);
    begin(1);
    EXPECT_THAT(left(), ElementsAre("fp32 8", "amp-fp16 8"));
    begin(3);
    EXPECT_THAT(left(), ElementsAre("fp32 8"));
    begin(2);
    EXPECT_THAT(left(), IsEmpty());
}

TEST_F(GroupPlans, CountARunThatIsThereTwice) {
    plan.runs.erase(plan.runs.begin() + 1, plan.runs.end());
    plan.runs.push_back(plan.runs.front());
    begin(0);
    EXPECT_THAT(left(), ElementsAre("fp32 7"));
    begin(1);
    EXPECT_THAT(left(), IsEmpty());
}

TEST_F(GroupPlans, ForgetARunThatIsDeleted) {
    begin(0);
    const RunSummary second = begin(1);
    store.remove(second.run, [](const fs::path& folder) { fs::remove_all(folder); });
    EXPECT_THAT(left(), ElementsAre("fp32 8", "amp-fp16 8"));
}

TEST_F(GroupPlans, HaveTheirFoldersAndTheOptionsOfATwin) {
    plan.runs.clear();
    for (const char* precision : {"fp32", "amp-bf16"})
        plan.runs.push_back({of(precision, 7), fs::path("/a") / precision});
    plan.twin = TwinOptions{.resync_every = 50, .skip_together = true, .share_proposals = true};
    const RunSummary first = begin(0);
    const auto read = plan_of_group(std::vector{first});
    ASSERT_TRUE(read);
    EXPECT_EQ(read->runs.at(1).folder, "/a/amp-bf16");
    EXPECT_EQ(completed(read->runs.at(1).config), completed(of("amp-bf16", 7)));
    ASSERT_TRUE(read->twin);
    EXPECT_EQ(read->twin->resync_every, 50);
    EXPECT_TRUE(read->twin->skip_together);
    EXPECT_TRUE(read->twin->share_proposals);
    EXPECT_TRUE(is_twin(std::vector{first}));
}

TEST_F(GroupPlans, KeepWhatElseRunsDifferIn) {
    plan.runs[1].config.batch_size = 7;
    plan.runs[2].config.precision.master_weights = false;
    const auto read = plan_of_group(std::vector{begin(0)});
    ASSERT_TRUE(read);
    for (std::size_t i = 0; i < plan.runs.size(); ++i)
        EXPECT_EQ(completed(read->runs.at(i).config), completed(plan.runs[i].config)) << i;
}

TEST_F(GroupPlans, LeaveOutAFolderThatJsonCannotHold) {
    plan.runs[0].folder = "/tmp/j\xe9r/1";
    plan.runs[1].folder = "/tmp/j\u00e9r/2";
    const auto read = plan_of_group(std::vector{begin(0)});
    ASSERT_TRUE(read);
    EXPECT_TRUE(read->runs.at(0).folder.empty());
    EXPECT_EQ(read->runs.at(1).folder, plan.runs[1].folder);
}

TEST_F(GroupPlans, OfVeryManyRunsAreNotKept) {
    plan.runs.resize(256, plan.runs.front());
    EXPECT_FALSE(group_plan_json(plan).empty());
    plan.runs.push_back(plan.runs.front());
    EXPECT_TRUE(group_plan_json(plan).empty());
    EXPECT_TRUE(group_plan_json({}).empty());
}

TEST_F(GroupPlans, AreNothingWhereTheyCannotBeRead) {
    const RunSummary run = begin(0);
    EXPECT_FALSE(is_twin(std::vector{run}));
    keep_group_plan(run.folder, R"({"settings": {"seed": "x"}, "runs": []})");
    EXPECT_FALSE(plan_of_group(std::vector{run}));
    keep_group_plan(run.folder, "[");
    EXPECT_FALSE(plan_of_group(std::vector{run}));
    fs::remove(run.folder / "group.json");
    EXPECT_FALSE(plan_of_group(std::vector{run}));
}

}  // namespace
}  // namespace engine
