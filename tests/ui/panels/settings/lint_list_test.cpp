// Hazards below the precision section, and their remedies.
#include "panels/settings/lint_list.h"

#include <QThreadPool>
#include <QToolButton>

#include "widgets/elided_label.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct LintListTest : WindowFixture {
    LintList* list() const { return window->findChild<LintList*>(); }
    QStringList sentences() const {
        QStringList out;
        for (auto* each : list()->findChildren<ElidedLabel*>(u"finding"_s)) {
            if (!each->parentWidget()->isHidden()) out << each->text();
        }
        return out;
    }
    QToolButton* fix(int at) const {
        QList<QToolButton*> shown;
        for (auto* each : list()->findChildren<QToolButton*>(u"fixIt"_s)) {
            if (!each->parentWidget()->isHidden()) shown << each;
        }
        return shown.value(at);
    }
};

TEST_F(LintListTest, IsHiddenWhereThereIsNothingToFind) {
    settings.set(u"device"_s, u"cpu"_s);
    settle();
    EXPECT_TRUE(list()->isHidden());
}

TEST_F(LintListTest, FollowsTheSettingsAndFixItRemovesTheFinding) {
    settings.set(u"device"_s, u"cpu"_s);
    settings.set(u"precision.preset"_s, u"pure-fp16"_s);
    settle();
    ASSERT_EQ(sentences(), QStringList{u"FP16 gradients without loss scaling"_s});
    EXPECT_FALSE(list()->isHidden());
    EXPECT_TRUE(fix(0)->toolTip().contains(u"precision.scaler=static"_s));
    EXPECT_TRUE(fix(0)->parentWidget()->toolTip().contains(u"2⁻²⁵"_s)) << "the reason";
    fix(0)->click();
    settle();
    EXPECT_EQ(settings.text(u"precision.scaler"_s), u"static"_s);
    EXPECT_TRUE(list()->isHidden());
}

TEST_F(LintListTest, EachFindingIsALineWithTheWorstFirst) {
    settings.set(u"device"_s, u"cpu"_s);
    settings.set(u"scaler.init_scale"_s, u"1000"_s);
    settings.set(u"teach.resume_without_scaler"_s, u"true"_s);
    settle();
    ASSERT_EQ(sentences().size(), 2);
    EXPECT_EQ(sentences()[0], u"A resumed run loses its loss scale"_s);
    fix(1)->click();
    settle();
    EXPECT_EQ(sentences().size(), 1);
    EXPECT_EQ(settings.text(u"scaler.init_scale"_s).toDouble(), 512);
}

TEST_F(LintListTest, WhatTheFirstStepShowedIsNotToldTwice) {
    settings.set(u"device"_s, u"cpu"_s);
    settings.set(u"precision.preset"_s, u"amp-fp16"_s);
    settings.set(u"precision.scaler"_s, u"static"_s);
    settings.set(u"scaler.init_scale"_s, u"16777216"_s);
    settle();
    ASSERT_EQ(sentences().size(), 1);
    EXPECT_TRUE(sentences()[0].startsWith(u"The static loss scale, 2²⁴"_s))
        << sentences()[0].toStdString();
    engine::LintFinding measured;
    measured.id = "static-scale-too-large";
    measured.severity = engine::LintSeverity::error;
    measured.sentence = engine::msg("The static loss scale, {}, overflows in the first step",
                                    std::string("2²⁴"));
    emit commands.hazardsFound(settings.config(), {measured});
    settle();
    EXPECT_EQ(sentences(), QStringList{u"The static loss scale, 2²⁴, overflows in the first step"_s});
}

TEST_F(LintListTest, RefusedSettingsHaveNoHazards) {
    settings.set(u"precision.preset"_s, u"pure-fp16"_s);
    settings.set(u"batch_size"_s, u"0"_s);
    settle();
    EXPECT_TRUE(list()->isHidden());
}

TEST_F(LintListTest, SpeaksChinese) {
    settings.set(u"device"_s, u"cpu"_s);
    settings.set(u"precision.preset"_s, u"pure-fp16"_s);
    language.setChoice(u"zh_CN"_s);
    window = std::make_unique<MainWindow>(context);
    settle();
    ASSERT_EQ(sentences(), QStringList{u"FP16 梯度没有损失缩放"_s});
    EXPECT_EQ(fix(0)->text(), u"修复"_s);
    language.setChoice(u"en"_s);
}

}  // namespace
}  // namespace ui
