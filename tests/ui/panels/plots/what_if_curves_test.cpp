// Other loss-scale policies, drawn over the staircase of a run.
#include "panels/plots/what_if_curves.h"

#include <gtest/gtest.h>

#include "engine/verdict/what_if.h"
#include "panels/plots/plot_panels.h"
#include "plots/plot_fixture.h"
#include "widgets/panel.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct WhatIfCurvesTest : PlotWindowTest {
    PlotPanel* scale() const {
        return window->findChild<QDockWidget*>(u"scale"_s)->findChild<PlotPanel*>();
    }
    bool replays(const std::string& policy) {
        scale()->whatIf()->choose(policy);
        return QTest::qWaitFor([&] { return !scale()->whatIf()->sentence().isEmpty(); }, 300'000);
    }
    /// The last value of a curve.
    static double last(const Curve& curve) {
        return static_cast<double>(curve.data->total(0, curve.data->size()).last);
    }
};

TEST_F(WhatIfCurvesTest, AStaticScaleIsALevelLineOverTheRealStairs) {
    show({"amp-fp16"});
    EXPECT_EQ(scale()->plot()->content().curves.size(), 1U);
    ASSERT_TRUE(replays("static-1024"));
    const auto& curves = scale()->plot()->content().curves;
    ASSERT_EQ(curves.size(), 3U) << "the run, what is known of the policy, and what is not";
    EXPECT_EQ(curves[1].name, u"Static 2¹⁰"_s);
    EXPECT_TRUE(scale()->whatIf()->sentence().startsWith(u"Static 2¹⁰"_s));
    EXPECT_EQ(curves[1].data->size(), 30);
    const Bucket known = curves[1].data->total(0, 30), unknown = curves[2].data->total(0, 30);
    EXPECT_EQ(known.finite + unknown.finite, 30U) << "each step is in one of the two";
    EXPECT_EQ(known.finite > 0 ? known.max : unknown.max, 1024.F);
    scale()->whatIf()->choose({});
    EXPECT_EQ(scale()->plot()->content().curves.size(), 1U);
    EXPECT_TRUE(scale()->whatIf()->sentence().isEmpty());
}

/// 30 steps with an interval of 20: the scale grows once.
TEST_F(WhatIfCurvesTest, TheGrowthIntervalAndTheInitialScaleReplaceThePolicysOwn) {
    show({"amp-fp16"});
    scale()->whatIf()->setInitialScale(256);
    scale()->whatIf()->setGrowthInterval(20);
    ASSERT_TRUE(replays("production"));
    const auto& curve = scale()->plot()->content().curves[1];
    EXPECT_EQ(curve.data->total(0, 1).last, 256.F);
    EXPECT_EQ(curve.data->total(19, 20).last, 256.F);
    EXPECT_EQ(last(curve), 512) << "it grew once, after 20 steps";
}

TEST_F(WhatIfCurvesTest, ARunWithoutAScalerHasNone) {
    show({"fp32"});
    scale()->whatIf()->choose("production");
    standsStill();
    EXPECT_TRUE(scale()->whatIf()->sentence().isEmpty());
    EXPECT_TRUE(scale()->plot()->content().curves.empty());
}

TEST_F(WhatIfCurvesTest, ItIsOffForTheNextRun) {
    show({"amp-fp16"});
    ASSERT_TRUE(replays("static-1024"));
    train("amp-fp16", 30);
    feed.showStored({*store->find("2")});
    EXPECT_TRUE(scale()->whatIf()->policy().empty());
    EXPECT_TRUE(scale()->whatIf()->sentence().isEmpty());
}

TEST_F(WhatIfCurvesTest, TheMenuOfThePlotOffersThePolicies) {
    show({"amp-fp16"});
    auto* panel = qobject_cast<Panel*>(window->findChild<QDockWidget*>(u"scale"_s));
    QMenu* policies = nullptr;
    for (auto* action : panel->menu()->actions()) {
        if (action->text().startsWith(u"What if"_s)) policies = action->menu();
    }
    ASSERT_NE(policies, nullptr);
    for (auto* action : policies->actions()) {
        if (action->text() == policyTitle("classroom")) action->trigger();
    }
    EXPECT_EQ(scale()->whatIf()->policy(), "classroom");
}

TEST(PolicyText, NoPolicyShowsItsKey) {
    for (const auto& policy : engine::usual_policies()) {
        const QString title = policyTitle(policy.name);
        EXPECT_NE(title, QString::fromStdString(policy.name));
        EXPECT_TRUE(title.front().isUpper()) << policy.name;
        EXPECT_FALSE(title.contains(u'^')) << policy.name;
    }
    EXPECT_EQ(policyTitle("init-2^24"), u"Initial scale 2²⁴"_s);
    EXPECT_EQ(policyTitle("static-65536"), u"Static 2¹⁶"_s);
}

}  // namespace
}  // namespace ui
