#include "text/run_text.h"

#include <gtest/gtest.h>

#include "panels/run_actions.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

TEST(RunText, TheStateOfARunElsewhereNamesItsMachine) {
    engine::RunSummary run;
    run.state = "running";
    EXPECT_EQ(stateText(run), u"running"_s);
    run.host = "node7";
    EXPECT_EQ(stateText(run), u"running on node7"_s);
    run.silent_s = 15;  // one renewal was late
    EXPECT_EQ(stateText(run), u"running on node7"_s);
    run.silent_s = 45;
    EXPECT_EQ(stateText(run), u"node7 silent for 0:45"_s);
}

TEST(RunText, ARunElsewhereIsNotResumedHere) {
    engine::RunSummary run;
    run.state = "interrupted";
    EXPECT_TRUE(whyNotResumed(run).isEmpty());
    run.state = "running";
    EXPECT_EQ(whyNotResumed(run), u"This run is being trained."_s);
    run.host = "node7";
    EXPECT_TRUE(whyNotResumed(run).contains(u"on node7"_s));
    EXPECT_TRUE(whyNotResumed(run).contains(u"silent for 90 s"_s));
}

}  // namespace
}  // namespace ui
