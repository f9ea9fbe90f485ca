#include "panels/settings/column_picker.h"

#include <gtest/gtest.h>

#include <QAction>
#include <QLineEdit>
#include <QListWidget>
#include <QSignalSpy>
#include <QTest>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct ColumnPickerTest : testing::Test {
    ColumnPickerTest() {
        edit.show();
        picker.setColumns({u"area"_s, u"rooms"_s, u"price"_s});
        picker.setTicked({u"price"_s});
    }
    QListWidget* list() const { return edit.findChild<QListWidget*>(u"columnPicker"_s); }

    QLineEdit edit;
    ColumnPicker picker{&edit};
};

TEST_F(ColumnPickerTest, TicksColumnsInTheOrderOfTheTable) {
    QSignalSpy picked(&picker, &ColumnPicker::picked);
    QTest::keyClick(&edit, Qt::Key_Down, Qt::AltModifier);
    ASSERT_TRUE(list() != nullptr && list()->isVisible());
    EXPECT_EQ(list()->item(2)->checkState(), Qt::Checked);
    QTest::keyClick(list(), Qt::Key_Return);
    EXPECT_EQ(picked.takeLast().front().toStringList(), QStringList({u"area"_s, u"price"_s}));
    QTest::mouseClick(list()->viewport(), Qt::LeftButton, {},
                      list()->visualItemRect(list()->item(2)).center());
    EXPECT_EQ(picked.takeLast().front().toStringList(), QStringList({u"area"_s}));
    EXPECT_EQ(list()->item(2)->checkState(), Qt::Unchecked);
    QTest::keyClick(list(), Qt::Key_Escape);
    EXPECT_FALSE(list()->isVisible());
}

TEST_F(ColumnPickerTest, HasNoButtonWithoutColumnsAndNoListWhileLocked) {
    EXPECT_EQ(edit.actions().size(), 1);
    picker.setEnabled(false);
    picker.open();
    EXPECT_EQ(list(), nullptr);
    picker.setColumns({});
    EXPECT_TRUE(edit.actions().isEmpty());
    picker.setEnabled(true);
    picker.open();
    EXPECT_EQ(list(), nullptr);
}

}  // namespace
}  // namespace ui
