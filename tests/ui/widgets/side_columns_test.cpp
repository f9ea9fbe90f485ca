#include "widgets/side_columns.h"

#include <gtest/gtest.h>

#include <QApplication>
#include <QLabel>
#include <QLineEdit>
#include <QTest>
#include <QVBoxLayout>

#include "support/stillness.h"
#include "theme/tokens.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

constexpr int wide = size::foldBelow + 100, narrow = size::foldBelow - 1;

struct SideColumnsTest : testing::Test {
    SideColumnsTest() {
        columns.add(SideColumns::Place::left, u"List"_s, list);
        columns.add(SideColumns::Place::right, u"Facts"_s, facts, 0);
        columns.add(SideColumns::Place::right, u"Batch"_s, batch);
        columns.add(SideColumns::Place::below, u"Drift"_s, drift);
        columns.setShares(1, 4, 2);
        columns.setHeights(3, 1);
        for (QWidget* part : std::initializer_list<QWidget*>{main, list, facts, batch, drift})
            part->setMinimumSize(40, 20);
        auto* layout = new QVBoxLayout(&window);
        layout->addWidget(&columns);
        showAt(wide);
    }
    void showAt(int width) {
        window.resize(width, 700);
        window.show();
        standsStill();
    }
    QRect place(const QWidget* part) const {
        return {part->mapTo(&window, QPoint()), part->size()};
    }
    QSplitter* splitterAround(const QWidget* part) const {
        return qobject_cast<QSplitter*>(part->parentWidget());
    }

    QWidget window;
    QLabel *main = new QLabel(u"main"_s), *list = new QLabel(u"list"_s);
    QLabel *facts = new QLabel(u"facts"_s), *batch = new QLabel(u"batch"_s);
    QLineEdit* drift = new QLineEdit;
    SideColumns columns{main, &window};
};

TEST_F(SideColumnsTest, StandBesideAndBelowInAWideWindow) {
    EXPECT_FALSE(columns.folded());
    EXPECT_FALSE(columns.tabs()->isVisible());
    EXPECT_LT(place(list).right(), place(main).left());
    EXPECT_LT(place(main).right(), place(facts).left());
    EXPECT_LT(place(facts).bottom(), place(batch).top());
    EXPECT_LT(place(main).bottom(), place(drift).top());
    EXPECT_EQ(place(main).left(), place(drift).left());
}

TEST_F(SideColumnsTest, BecomeTabsBeneathInANarrowWindow) {
    showAt(narrow);
    ASSERT_TRUE(columns.folded());
    QTabBar* tabs = columns.tabs();
    ASSERT_EQ(tabs->count(), 4);
    EXPECT_GE(tabs->height(), tabs->sizeHint().height());
    EXPECT_GT(tabs->height(), 10);
    EXPECT_EQ(tabs->tabText(0), u"List"_s);
    EXPECT_EQ(tabs->tabText(3), u"Drift"_s);
    EXPECT_FALSE(tabs->accessibleName().isEmpty());
    const QWidget* parts[] = {list, facts, batch, drift};
    for (int i = 0; i < 4; ++i) {
        QTest::mouseClick(tabs, Qt::LeftButton, {}, tabs->tabRect(i).center());
        for (int k = 0; k < 4; ++k) EXPECT_EQ(parts[k]->isVisible(), k == i) << i << " " << k;
        EXPECT_LT(place(main).bottom(), place(parts[i]).top());
        EXPECT_EQ(place(main).width(), place(parts[i]).width());
    }
}

TEST_F(SideColumnsTest, KeepTheSizesOfEitherForm) {
    auto* sides = splitterAround(main->parentWidget());
    ASSERT_NE(sides, nullptr);
    sides->setSizes({300, 700, 350});
    standsStill();
    const QRect leftBefore = place(list), belowBefore = place(drift);
    showAt(narrow);
    splitterAround(main)->setSizes({250, 400});
    standsStill();
    const QRect mainNarrow = place(main);
    columns.tabs()->setCurrentIndex(2);
    showAt(wide);
    EXPECT_EQ(place(list), leftBefore);
    EXPECT_EQ(place(drift), belowBefore);
    for (const QWidget* part : {list, facts, batch}) EXPECT_TRUE(part->isVisible());
    showAt(narrow);
    EXPECT_EQ(place(main), mainNarrow);
    EXPECT_EQ(columns.tabs()->currentIndex(), 2);
    EXPECT_TRUE(batch->isVisible());
}

TEST_F(SideColumnsTest, AWindowThatStartsNarrowGetsTheSharesWhenItWidens) {
    const QRect before = place(list);
    QWidget other;
    auto* own = new QLabel(u"own"_s);
    auto* side = new QLabel(u"side"_s);
    for (QWidget* part : {own, side}) part->setMinimumSize(40, 20);
    auto* layout = new QVBoxLayout(&other);
    auto* made = new SideColumns(own, &other);
    layout->addWidget(made);
    made->add(SideColumns::Place::left, u"Side"_s, side);
    made->setShares(1, 4, 0);
    other.resize(narrow, 700);
    other.show();
    standsStill();
    ASSERT_TRUE(made->folded());
    other.resize(wide, 700);
    standsStill();
    EXPECT_FALSE(made->folded());
    EXPECT_LT(side->mapTo(&other, QPoint(side->width(), 0)).x(), own->mapTo(&other, QPoint()).x());
    EXPECT_GT(own->width(), 2 * side->width());
    EXPECT_GT(before.width(), 0);
}

TEST_F(SideColumnsTest, TheFocusStaysWhereItWas) {
    window.activateWindow();
    drift->setFocus();
    showAt(narrow);
    columns.tabs()->setCurrentIndex(3);
    drift->setFocus();
    showAt(wide);
    EXPECT_EQ(window.focusWidget(), drift);
}

/// Wrapping text needs more height in less width, and text may arrive later.
TEST_F(SideColumnsTest, ATextBelowIsNeverCut) {
    auto* text = new QLabel;
    text->setWordWrap(true);
    columns.add(SideColumns::Place::below, u"Words"_s, text);
    standsStill();
    text->setText(u"many words "_s.repeated(80));
    standsStill();
    EXPECT_GE(text->height(), text->heightForWidth(text->width()));
}

}  // namespace
}  // namespace ui
