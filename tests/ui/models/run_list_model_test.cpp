#include "models/run_list_model.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <limits>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

engine::RunSummary listedRun(const char* run, const char* state, double accuracy) {
    engine::RunSummary out{};
    out.run = run;
    out.state = state;
    out.test = {0, {{"accuracy", accuracy}}};
    return out;
}

TEST(RunListModel, ShowsThePrimaryMetricOfTheTask) {
    RunListModel model;
    auto table = listedRun("1", "done", 0);
    table.metrics = {{.key = "rmse", .title = "RMSE", .higher_is_better = false}};
    table.test = {0.3, {{"rmse", 59600}}};
    auto plain = listedRun("2", "done", 0);
    plain.metrics.clear();
    plain.test = {0.25, {}};
    model.setRuns({table, plain});
    EXPECT_EQ(model.index(0).data(RunListModel::MetricRole).toString(), u"59,600"_s);
    EXPECT_EQ(model.index(1).data(RunListModel::MetricRole).toString(), u"0.250"_s) << "its loss";
    EXPECT_EQ(model.index(0).data(RunListModel::MetricNameRole).toString(), u"RMSE"_s);
    EXPECT_EQ(model.index(1).data(RunListModel::MetricNameRole).toString(), u"loss"_s);
    EXPECT_TRUE(model.index(0).data(Qt::AccessibleTextRole).toString().contains(u"RMSE 59,600"_s));
}

TEST(RunListModel, ShowsNameResultAndStateOfEachRun) {
    RunListModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    auto diverged = listedRun("10", "diverged", 0.05);
    diverged.diverged_at = 23;
    diverged.config.dataset.kind = "spirals";
    diverged.config.model.kind = "mlp";
    diverged.skipped = 132;
    diverged.wall_s = 61;
    auto named = listedRun("9", "done", 0.5);
    named.title = "first try";
    model.setRuns({listedRun("12", "running", std::numeric_limits<double>::quiet_NaN()),
                   listedRun("11", "done", 0.884), diverged, named});
    ASSERT_EQ(model.rowCount(), 4);
    EXPECT_EQ(model.index(0).data(RunListModel::MetricRole).toString(), u"–"_s);
    EXPECT_TRUE(model.index(1).data().toString().startsWith(u"11 "_s));
    EXPECT_EQ(model.index(1).data(RunListModel::StateRole).toString(), QString());
    EXPECT_EQ(model.index(2).data(RunListModel::StateRole).toString(), u"diverged at step 23"_s);
    EXPECT_EQ(model.index(2).data(RunListModel::DetailRole).toString(),
              u"132 skipped · 1:01 · Spirals · MLP"_s);
    EXPECT_TRUE(model.index(3).data().toString().startsWith(u"first try "_s));
    EXPECT_EQ(model.rowOf("10"), 2);
    EXPECT_EQ(model.rowOf("99"), -1);
}

TEST(RunListModel, SaysWhichRunsAreOnThePlots) {
    RunListModel model;
    model.setRuns({listedRun("2", "done", 0.5), listedRun("1", "done", 0.5)});
    model.setShown({"1"});
    EXPECT_FALSE(model.index(0).data(RunListModel::ShownRole).toBool());
    EXPECT_TRUE(model.index(1).data(RunListModel::ShownRole).toBool());
}

}  // namespace
}  // namespace ui
