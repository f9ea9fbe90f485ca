#include "text/run_text.h"

#include <gtest/gtest.h>

#include "engine/runs/run_fields.h"
#include "panels/history/run_actions.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

TEST(RunText, TheStateOfARunElsewhereNamesItsMachine) {
    engine::RunSummary run;
    run.state = "running";
    EXPECT_EQ(stateText(run), u"running"_s);
    run.host = "node7";
    EXPECT_EQ(stateText(run), u"running on node7"_s);
    run.paused = true;
    EXPECT_EQ(stateText(run), u"paused on node7"_s);
    run.paused = false;
    run.silent_s = 15;  // one renewal was late
    EXPECT_EQ(stateText(run), u"running on node7"_s);
    run.silent_s = 45;
    EXPECT_EQ(stateText(run), u"node7 silent for 0:45"_s);
}

TEST(RunText, ARunOfWhichTheStepIsUnknownHasJustDiverged) {
    engine::RunSummary run;
    run.state = "diverged";
    EXPECT_EQ(stateText(run), u"diverged"_s);
    run.diverged_at = 1234;
    EXPECT_EQ(stateText(run), u"diverged at step 1,234"_s);
}

TEST(RunText, FiguresOfARunNameTheirMetricAndTheirUnit) {
    engine::RunSummary run;
    run.unit = "rows";
    run.samples_per_s = 1234;
    run.metrics = {{.key = "rmse", .title = "RMSE"}};
    run.test = {.loss = 1, .metrics = {{"rmse", 59'000}}};
    const auto text = [&run](const std::string& name) {
        const auto fields = engine::run_fields();
        return fieldText(run, *engine::find_run_field(fields, name));
    };
    EXPECT_EQ(text("samples_per_s"), u"1,230 rows/s"_s);
    EXPECT_EQ(text("test_metric"), u"RMSE 59,000"_s);
    run.metrics = engine::classification_metrics();
    run.test = {.loss = 1, .metrics = {{"accuracy", 0.957}}};
    EXPECT_EQ(text("test_metric"), u"95.7\u202f%"_s);
}

TEST(RunText, ARunElsewhereIsNotResumedHere) {
    engine::RunSummary run;
    run.state = "interrupted";
    EXPECT_TRUE(whyNotResumed(run).isEmpty());
    run.state = "running";
    EXPECT_EQ(whyNotResumed(run), u"This run is being trained."_s);
    run.state = "missing";
    EXPECT_EQ(whyNotResumed(run), u"The folder of this run is gone."_s);
    run.state = "running";
    run.host = "node7";
    EXPECT_TRUE(whyNotResumed(run).contains(u"on node7"_s));
    EXPECT_TRUE(whyNotResumed(run).contains(u"silent for 90 s"_s));
}

}  // namespace
}  // namespace ui
