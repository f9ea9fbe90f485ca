#include "lab/lessons/check_table.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>
#include <algorithm>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

bool shows(const QWidget& widget, const QString& text) {
    const auto labels = widget.findChildren<QLabel*>();
    return std::ranges::any_of(labels, [&](const QLabel* label) {
        return !label->isHidden() && label->text().contains(text);
    });
}

CheckRow wrong() {
    CheckRow row;
    row.id = u"stop"_s;
    row.question = u"When does it stop?"_s;
    row.said = u"1,200"_s;
    row.measured = u"1,859"_s;
    row.verdict = u"659 steps too early"_s;
    row.final_ = true;
    row.hint = u"Compare the change with half a gap."_s;
    row.step = 1859;
    return row;
}

TEST(CheckTable, AWrongPredictionGetsItsHintAndTheWayToThePlots) {
    CheckTable table;
    QSignalSpy wanted(&table, &CheckTable::showWanted);
    table.setRows({wrong()});
    EXPECT_TRUE(shows(table, u"half a gap"_s));
    auto* link = table.findChild<QToolButton*>();
    ASSERT_NE(link, nullptr);
    link->click();
    ASSERT_EQ(wanted.size(), 1);
    EXPECT_EQ(wanted[0][0].value<std::int64_t>(), 1859);
}

TEST(CheckTable, ARightPredictionGetsNoHint) {
    CheckTable table;
    CheckRow row = wrong();
    row.right = true;
    row.verdict.clear();
    table.setRows({row});
    EXPECT_FALSE(shows(table, u"half a gap"_s));
    EXPECT_EQ(table.findChild<QToolButton*>(), nullptr);
    EXPECT_TRUE(shows(table, u"as you said"_s));
}

TEST(CheckTable, AValueThatIsNotFinalGetsNoVerdictYet) {
    CheckTable table;
    CheckRow row = wrong();
    row.final_ = false;
    row.measured.clear();
    row.verdict.clear();
    table.setRows({row});
    EXPECT_TRUE(shows(table, u"…"_s));
    EXPECT_FALSE(shows(table, u"half a gap"_s));
}

}  // namespace
}  // namespace ui
