#include "widgets/widget_state.h"

#include <gtest/gtest.h>

#include <QButtonGroup>
#include <QComboBox>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QStandardItemModel>
#include <QTabBar>
#include <QTest>
#include <QTreeView>
#include <QVBoxLayout>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

/// A page as it is made once in each language.
struct MadePage : QWidget {
    MadePage() : column(new QVBoxLayout(this)) {
        for (QWidget* each : {static_cast<QWidget*>(tabs), static_cast<QWidget*>(box),
                              static_cast<QWidget*>(first), static_cast<QWidget*>(second),
                              static_cast<QWidget*>(text), static_cast<QWidget*>(area),
                              static_cast<QWidget*>(tree), static_cast<QWidget*>(left),
                              static_cast<QWidget*>(right), static_cast<QWidget*>(alone)})
            column->addWidget(each);
        tabs->addTab(u"a"_s);
        tabs->addTab(u"b"_s);
        box->addItems({u"x"_s, u"y"_s, u"z"_s});
        for (const QString& group : {u"one"_s, u"two"_s}) {
            auto* item = new QStandardItem(group);
            for (int i = 0; i < 3; ++i) item->appendRow(new QStandardItem(u"row"_s));
            rows.appendRow(item);
        }
        tree->setModel(&rows);
        group.addButton(left, 0);
        group.addButton(right, 1);
        for (auto* button : {left, right, alone}) button->setCheckable(true);
        left->setChecked(true);
        connect(&group, &QButtonGroup::idClicked, this, [this](int id) { clicked = id; });
        resize(300, 600);
        show();
    }
    void fillArea(int height) {
        auto* content = new QWidget;
        content->setFixedSize(50, height);
        area->setWidget(content);
    }

    QStandardItemModel rows;
    QButtonGroup group;
    QVBoxLayout* column;
    QTabBar* tabs = new QTabBar(this);
    QComboBox* box = new QComboBox(this);
    QLineEdit *first = new QLineEdit(this), *second = new QLineEdit(this);
    QPlainTextEdit* text = new QPlainTextEdit(this);
    QScrollArea* area = new QScrollArea(this);
    QTreeView* tree = new QTreeView(this);
    QPushButton *left = new QPushButton(this), *right = new QPushButton(this),
                *alone = new QPushButton(this);
    int clicked = -1;
};

TEST(WidgetState, PutsBackWhatAPersonHasSet) {
    MadePage old;
    old.tabs->setCurrentIndex(1);
    old.box->setCurrentIndex(2);
    old.second->setText(u"half typed"_s);
    old.text->setPlainText(u"prompt"_s);
    old.fillArea(900);
    QCoreApplication::processEvents();
    old.area->verticalScrollBar()->setValue(120);
    ASSERT_EQ(old.area->verticalScrollBar()->value(), 120);
    old.tree->expand(old.rows.index(1, 0));
    old.tree->setCurrentIndex(old.rows.index(2, 0, old.rows.index(1, 0)));
    old.right->click();
    old.alone->setChecked(true);
    WidgetState state = WidgetState::of(&old);

    MadePage made;
    state.restore(&made);
    EXPECT_EQ(made.tabs->currentIndex(), 1);
    EXPECT_EQ(made.box->currentText(), u"z"_s);
    EXPECT_EQ(made.first->text(), QString());
    EXPECT_EQ(made.second->text(), u"half typed"_s);
    EXPECT_EQ(made.text->toPlainText(), u"prompt"_s);
    EXPECT_FALSE(made.tree->isExpanded(made.rows.index(0, 0)));
    EXPECT_TRUE(made.tree->isExpanded(made.rows.index(1, 0)));
    EXPECT_EQ(made.tree->currentIndex(), made.rows.index(2, 0, made.rows.index(1, 0)));
    EXPECT_TRUE(made.tree->selectionModel()->isSelected(made.tree->currentIndex()));
    EXPECT_TRUE(made.right->isChecked());
    EXPECT_EQ(made.clicked, 1) << "as if the person had clicked it";
    EXPECT_TRUE(made.alone->isChecked());
    // The area fills itself later.
    EXPECT_EQ(made.area->verticalScrollBar()->value(), 0);
    made.fillArea(900);
    QCoreApplication::processEvents();
    EXPECT_EQ(made.area->verticalScrollBar()->value(), 120);
}

/// A page that opens models makes a part of its widgets later.
TEST(WidgetState, WaitsForWidgetsThatAreMadeLater) {
    QWidget old;
    auto* typed = new QLineEdit(&old);
    typed->setText(u"typed"_s);
    QWidget made;
    WidgetState state = WidgetState::of(&old);
    state.restore(&made);
    auto* late = new QLineEdit(&made);
    state.restore(&made);
    EXPECT_EQ(late->text(), u"typed"_s);
    EXPECT_TRUE(state.isEmpty());
    late->setText(u"changed"_s);
    state.restore(&made);
    EXPECT_EQ(late->text(), u"changed"_s) << "each once";
}

}  // namespace
}  // namespace ui
