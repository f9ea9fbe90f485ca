#include "lab/lesson_page/knob_bar.h"

#include <gtest/gtest.h>

#include <QComboBox>
#include <QSignalSpy>
#include <QTest>

#include "theme/theme.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

Knob knob(const QString& current) {
    Knob out;
    out.path = u"batch_size"_s;
    out.values = {u"16"_s, u"64"_s};
    out.current = current;
    return out;
}

TEST(KnobBar, TellsTheValueThatIsChosen) {
    Theme theme;
    KnobBar bar(&theme, {knob(u"64"_s)});
    QSignalSpy turned(&bar, &KnobBar::turned);
    auto* list = bar.findChild<QComboBox*>();
    EXPECT_EQ(list->currentText(), u"64"_s);
    QTest::keyClick(list, Qt::Key_Up);
    ASSERT_EQ(turned.size(), 1);
    EXPECT_EQ(turned[0][0].toString(), u"batch_size"_s);
    EXPECT_EQ(turned[0][1].toString(), u"16"_s);
}

TEST(KnobBar, OffersTheLessonsOwnValuesWhereTheyDiffer) {
    Theme theme;
    KnobBar bar(&theme, {knob({})});
    auto* list = bar.findChild<QComboBox*>();
    EXPECT_EQ(list->currentText(), u"as in the lesson"_s);
    bar.setTurned({{u"batch_size"_s, u"16"_s}});
    EXPECT_EQ(list->currentText(), u"16"_s);
    QSignalSpy turned(&bar, &KnobBar::turned);
    QTest::keyClick(list, Qt::Key_Home);
    ASSERT_EQ(turned.size(), 1);
    EXPECT_TRUE(turned[0][1].toString().isEmpty());
}

TEST(KnobBar, AResetShowsTheLessonsValueAgain) {
    Theme theme;
    KnobBar bar(&theme, {knob(u"64"_s)});
    bar.setTurned({{u"batch_size"_s, u"16"_s}});
    bar.setTurned({});
    EXPECT_EQ(bar.findChild<QComboBox*>()->currentText(), u"64"_s);
}

}  // namespace
}  // namespace ui
