#include "models/run_list_model.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <limits>

#include "theme/theme.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

engine::RunSummary summary(const char* run, const char* state, double accuracy) {
    engine::RunSummary out{};
    out.run = run;
    out.state = state;
    out.test_loss = 0;
    out.test_accuracy = accuracy;
    return out;
}

TEST(RunListModel, ShowsNameResultAndStateOfEachRun) {
    Theme theme;
    RunListModel model(&theme);
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    model.setRuns({summary("12", "running", std::numeric_limits<double>::quiet_NaN()),
                   summary("11", "done", 0.884), summary("10", "interrupted", 0.1)});
    ASSERT_EQ(model.rowCount(), 3);
    EXPECT_EQ(model.index(0, RunListModel::AccuracyColumn).data().toString(), u"–"_s);
    EXPECT_TRUE(model.index(1, RunListModel::NameColumn).data().toString().startsWith(u"11 "_s));
    EXPECT_EQ(model.index(2, RunListModel::StateColumn).data().toString(), u"interrupted"_s);
    EXPECT_EQ(model.rowOf("10"), 2);
    EXPECT_EQ(model.rowOf("99"), -1);
}

}  // namespace
}  // namespace ui
