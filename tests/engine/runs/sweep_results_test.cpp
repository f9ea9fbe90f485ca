#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/runs/run_group.h"
#include "engine/runs/sweep.h"
#include "support/part_figures.h"
#include "temp_folder.h"

namespace engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A sweep whose runs end with the results that a test sets.
class Sweep {
public:
    explicit Sweep(const SweepRequest& request) : plan(plan_sweep(request)) {
        queue.add(plan.entries());
    }

    /// Ends the next run of the queue, with these accuracies of its epochs; -1: not evaluated.
    void run(const std::vector<double>& accuracies, QueueState state = QueueState::done,
             bool validated = false, double loss = 1) {
        auto taken = queue.take();
        const auto made = store.create(taken->queued().entry.config);
        RunStarted started{};
        started.run = made.run;
        started.config = taken->queued().entry.config;
        store.append(started);
        std::int64_t epoch = 0;
        for (const double accuracy : accuracies) {
            EpochDone event{};
            event.run = made.run;
            event.epoch = ++epoch;
            event.evaluated = accuracy != -1;
            event.test = event.evaluated ? classified(loss, accuracy)
                                         : unknown_figures(classification_metrics());
            if (validated) event.validation = classified(loss, accuracy / 2);
            store.append(event);
        }
        RunDone done{};
        done.run = made.run;
        done.reason = state == QueueState::done ? DoneReason::epochs : DoneReason::diverged;
        done.wall_s = 2;
        store.append(done);
        taken->set_run(made.run);
        taken->finish(state);
    }

    std::vector<SweepRow> rows() const { return sweep_rows(plan, queue.list(), store); }

    test_support::TempFolder folder;
    SweepPlan plan;
    RunQueue queue{folder.path()};
    RunStore store{folder.path()};
};

SweepRequest rates(std::int64_t seeds = 1) {
    SweepRequest request;
    request.grid = {"optimizer.lr=0.1,0.2,0.3"};
    request.seeds = seeds;
    return request;
}

std::vector<std::string> row_labels(const std::vector<SweepRow>& rows) {
    std::vector<std::string> out;
    for (const SweepRow& row : rows) out.push_back(row.label);
    return out;
}

TEST(SweepResults, TheBestPointComesFirstAndOnesWithoutAFigureLast) {
    Sweep sweep(rates());
    sweep.run({}, QueueState::failed);
    sweep.run({0.5, 0.7, 0.6});
    sweep.run({0.8});
    const auto rows = sweep.rows();
    EXPECT_THAT(row_labels(rows),
                ElementsAre("optimizer.lr=0.3", "optimizer.lr=0.2", "optimizer.lr=0.1"));
    EXPECT_EQ(rows[1].best.mean, 0.7);
    EXPECT_EQ(rows[1].last.mean, 0.6);
    EXPECT_EQ(rows[1].wall_s.mean, 2);
    EXPECT_EQ(rows[1].metric.key, "accuracy");
    EXPECT_EQ(rows[1].part, "test");
    EXPECT_EQ(rows[2].failed, 1);
    EXPECT_TRUE(std::isnan(rows[2].best.mean));
}

TEST(SweepResults, ARunWhoseOutputsAreNaNIsNeverTheBest) {
    Sweep sweep(rates());
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    sweep.run({0.9375}, QueueState::done, false, nan);
    sweep.run({0.6});
    sweep.run({0.99}, QueueState::done, true, nan);
    const auto rows = sweep.rows();
    EXPECT_EQ(rows[0].label, "optimizer.lr=0.2");
    EXPECT_TRUE(std::isnan(rows[1].best.mean) && std::isnan(rows[2].best.mean));
}

TEST(SweepResults, AreThoseOfTheLastEvaluation) {
    Sweep sweep(rates());
    sweep.run({-1, 0.7, -1});
    const auto rows = sweep.rows();
    EXPECT_EQ(rows[0].best.mean, 0.7);
    EXPECT_EQ(rows[0].last.mean, 0.7);
}

TEST(SweepResults, AreMeanAndSpreadOverTheSeedsOfAPoint) {
    Sweep sweep(rates(2));
    for (const double accuracy : {0.5, 0.7, 0.2, 0.4}) sweep.run({accuracy});
    const auto rows = sweep.rows();
    EXPECT_EQ(rows[0].label, "optimizer.lr=0.1");
    EXPECT_DOUBLE_EQ(rows[0].best.mean, 0.6);
    EXPECT_DOUBLE_EQ(rows[0].best.spread, std::sqrt(0.02));
    EXPECT_EQ(rows[0].runs.size(), 2u);
    EXPECT_EQ(rows[2].finished, 0) << "not run yet";
}

TEST(SweepResults, GoByTheValidationPartWhereThereIsOne) {
    Sweep sweep(rates());
    sweep.run({0.8}, QueueState::done, /*validated=*/true);
    EXPECT_EQ(sweep.rows()[0].part, "validation");
    EXPECT_EQ(sweep.rows()[0].best.mean, 0.4);
}

TEST(SweepResults, ShowAsATableAndAsLinesOfJson) {
    Sweep sweep(rates(2));
    sweep.run({0.5});
    sweep.run({0.75}, QueueState::failed);
    const auto rows = sweep.rows();
    const std::string table = sweep_table(sweep.plan, rows);
    EXPECT_THAT(table, HasSubstr("best test accuracy"));
    EXPECT_THAT(table, HasSubstr("0.6250 ±0.1768"));
    EXPECT_THAT(table, HasSubstr("2/2, 1 failed"));
    const auto line = nlohmann::json::parse(to_json_line(sweep.plan, rows[0], 1));
    EXPECT_EQ(line.at("rank"), 1);
    EXPECT_EQ(line.at("settings"), "optimizer.lr=0.1");
    EXPECT_EQ(line.at("metric"), "accuracy");
    EXPECT_EQ(line.at("best"), 0.625);
    EXPECT_EQ(line.at("failed"), 1);
    EXPECT_EQ(line.at("runs").size(), 2u);
    const auto empty = nlohmann::json::parse(to_json_line(sweep.plan, rows[1], 2));
    EXPECT_EQ(empty.at("best"), "nan");
}

TEST(Requeue, ALostSweepIsInTheQueueAgainWithTheEndsOfItsRuns) {
    const test_support::TempFolder folder;
    RunStore store(folder.path());
    RunConfig config;
    for (const auto& [rate, reason] :
         {std::pair(0.1, DoneReason::epochs), std::pair(0.2, DoneReason::stopped),
          std::pair(0.3, DoneReason::diverged)}) {
        config.optimizer.options["lr"] = rate;
        RunDone done{};
        done.run = store.create(completed(config), {}, "sweep-1").run;
        done.reason = reason;
        store.append(done);
    }
    RunQueue queue(folder.path());
    requeue_sweep(queue, runs_of_group(store.list(), "sweep-1"));
    const auto queued = queue.list("sweep-1");
    ASSERT_EQ(queued.size(), 3u);
    const QueueState states[] = {QueueState::done, QueueState::waiting, QueueState::failed};
    const char* labels[] = {"optimizer.lr=0.1", "optimizer.lr=0.2", "optimizer.lr=0.3"};
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(queued[i].state, states[i]) << i;
        EXPECT_EQ(queued[i].run, std::to_string(i + 1)) << "it goes on, and is not begun anew";
        EXPECT_EQ(queued[i].entry.label, labels[i]);
    }
    SweepPlan plan = to_sweep_plan(queued);
    plan.batch = "sweep-1";
    EXPECT_EQ(plan.entries().front().batch, "sweep-1");
    EXPECT_EQ(sweep_rows(plan, queued, store).size(), 3u);
}

}  // namespace
}  // namespace engine
