#include "widgets/spoken_texts.h"

#include <gtest/gtest.h>

#include <QAbstractItemView>
#include <QAccessible>
#include <QComboBox>
#include <QLabel>

#include "text/spoken.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

QString accessibleText(QWidget* widget, QAccessible::Text which = QAccessible::Name) {
    return QAccessible::queryAccessibleInterface(widget)->text(which);
}

TEST(SpokenTexts, OfALabelAreItsNameAndItsValue) {
    installSpokenTexts();
    installSpokenTexts();
    QLabel value(u"<b>1,204</b>"_s);
    value.setTextFormat(Qt::RichText);
    value.setAccessibleName(u"Updates"_s);
    EXPECT_EQ(accessibleText(&value), u"Updates: 1,204"_s);
    value.setText(u"<b>1,205</b>"_s);
    EXPECT_EQ(accessibleText(&value), u"Updates: 1,205"_s);
    value.setText(u"Updates <b>7</b>"_s);
    EXPECT_EQ(accessibleText(&value), u"Updates 7"_s) << "the caption is not said twice";
    value.clear();
    EXPECT_EQ(accessibleText(&value), u"Updates"_s);
    QLabel plain(u"A sentence."_s);
    EXPECT_EQ(accessibleText(&plain), u"A sentence."_s);
}

struct Counting final : QWidget, Spoken {
    QString spoken() const override { return QString::number(value); }
    int value = 1;
};

TEST(SpokenTexts, OfADrawingAreMadeWhenTheyAreAskedFor) {
    installSpokenTexts();
    Counting drawing;
    drawing.setAccessibleName(u"Counter"_s);
    EXPECT_EQ(accessibleText(&drawing), u"Counter"_s);
    EXPECT_EQ(accessibleText(&drawing, QAccessible::Description), u"1"_s);
    drawing.value = 2;
    EXPECT_EQ(accessibleText(&drawing, QAccessible::Description), u"2"_s);
}

TEST(SpokenTexts, OfAChoiceAreItsNameAndWhatIsChosen) {
    installSpokenTexts();
    QComboBox box;
    box.addItems({u"Spirals"_s, u"Glyphs"_s});
    box.setAccessibleName(u"Data set"_s);
    EXPECT_EQ(accessibleText(&box), u"Data set: Spirals"_s);
    EXPECT_EQ(accessibleText(&box, QAccessible::Value), u"Spirals"_s);
    box.setCurrentIndex(1);
    EXPECT_EQ(accessibleText(&box), u"Data set: Glyphs"_s);
    auto* heard = QAccessible::queryAccessibleInterface(&box);
    EXPECT_EQ(heard->role(), QAccessible::ComboBox);
    EXPECT_EQ(heard->child(0)->object(), box.view());
    EXPECT_EQ(heard->indexOfChild(heard->child(0)), 0);
    heard->actionInterface()->doAction(QAccessibleActionInterface::showMenuAction());
    EXPECT_TRUE(heard->state().expanded);
    heard->actionInterface()->doAction(QAccessibleActionInterface::showMenuAction());
    EXPECT_FALSE(heard->state().expanded);
}

}  // namespace
}  // namespace ui
