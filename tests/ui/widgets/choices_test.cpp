#include "widgets/choices.h"

#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QApplication>
#include <QImage>
#include <QSet>
#include <QSettings>
#include <QStyleOptionButton>
#include <tuple>

#include "pages/page_stack.h"
#include "screens/screen_check.h"
#include "support/contrast.h"
#include "support/stillness.h"
#include "support/window_stage.h"
#include "theme/theme.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

/// The largest contrast of a pixel of the box with the panel below the check box.
double standsOut(QCheckBox& box, const QColor& panel) {
    QImage image(box.size(), QImage::Format_RGB32);
    image.fill(panel);
    box.render(&image, {}, {}, QWidget::DrawChildren);
    QStyleOptionButton option;
    option.initFrom(&box);
    const QRect place = box.style()->subElementRect(QStyle::SE_CheckBoxIndicator, &option, &box);
    double most = 0;
    // The middle of its left edge, which is the border and not the tick.
    for (int x = place.left(); x < place.left() + 2; ++x)
        most = std::max(most, contrast(image.pixelColor(x, place.center().y()), panel));
    return most;
}

TEST(CheckBox, StandsOutFromThePanelInBothThemes) {
    for (const auto choice : {Theme::Choice::light, Theme::Choice::dark}) {
        const Theme theme(choice);
        CheckBox box;
        box.ensurePolished();
        box.resize(box.sizeHint());
        for (const bool ticked : {false, true}) {
            box.setChecked(ticked);
            EXPECT_GE(standsOut(box, theme.tokens().panel), 3)
                << (choice == Theme::Choice::dark ? "dark" : "light") << ' ' << ticked;
        }
    }
}

TEST(ChoiceBox, KnowsWhetherItsChoiceFits) {
    ChoiceBox box;
    box.addItem(u"RNN language model"_s);
    box.resize(400, 25);
    EXPECT_FALSE(box.isCut());
    box.resize(100, 25);
    EXPECT_TRUE(box.isCut());
    EXPECT_EQ(box.currentText(), u"RNN language model"_s);
}

TEST(ChoiceBox, AsksForTheRoomOfItsWidestChoice) {
    const Theme theme;
    for (const double points : {9.0, 13.5}) {
        ChoiceBox box;
        QFont font = box.font();
        font.setPointSizeF(points);
        box.setFont(font);
        // The ink of the last ends half a letter before its advance.
        box.addItems({u"off"_s, u"Weights now, while paused"_s, u"文本（tokenizer.json）"_s});
        for (const QSize& size : {box.sizeHint(), box.minimumSizeHint()}) {
            box.resize(size);
            for (int i = 0; i < box.count(); ++i) {
                box.setCurrentIndex(i);
                EXPECT_FALSE(box.isCut()) << points << ": " << box.itemText(i).toStdString();
            }
        }
        // Each of many texts alone: their widths end at parts of a pixel.
        for (int letters = 1; letters < 40; ++letters) {
            ChoiceBox alone;
            alone.setFont(font);
            alone.addItem(u"Mean of the losses "_s.repeated(3).left(letters));
            alone.resize(alone.sizeHint());
            EXPECT_FALSE(alone.isCut()) << points << ": " << letters;
        }
        box.letShrink();
        EXPECT_LT(box.sizeHint().width(), 150);
    }
}

/// All lists of choices of all pages.
struct ChoicesOfTheWindow : testing::TestWithParam<std::tuple<double, const char*>>, WindowStage {
    ChoicesOfTheWindow() {
        QFont font = before;
        font.setPointSizeF(font.pointSizeF() * std::get<0>(GetParam()));
        QApplication::setFont(font);
        language.setChoice(QString::fromLatin1(std::get<1>(GetParam())));
        openWindow({1600, 1000});
        settle();
    }
    ~ChoicesOfTheWindow() override {
        window.reset();
        QApplication::setFont(before);
        language.setChoice(u"en"_s);
        QSettings().clear();
    }
    /// Each choice fits into its box, unless a narrow column lets the box shrink, and into the list.
    static void check(ChoiceBox& box) {
        SCOPED_TRACE(box.accessibleName().toStdString());
        const int shown = box.currentIndex();
        const QSignalBlocker quiet(box);
        int widest = 0;
        for (int i = 0; i < box.count(); ++i) {
            box.setCurrentIndex(i);
            widest = std::max(widest, box.fontMetrics().horizontalAdvance(box.itemText(i)));
            const bool mayBeCut = box.sizeAdjustPolicy() != QComboBox::AdjustToContents;
            EXPECT_TRUE(mayBeCut || !box.isCut()) << box.itemText(i).toStdString();
        }
        box.setCurrentIndex(shown);
        box.showPopup();
        standsStill();
        const auto* list = box.view();
        EXPECT_GE(list->viewport()->width(), widest);
        const QRect last = list->visualRect(list->model()->index(box.count() - 1, 0));
        EXPECT_LE(last.bottom(), list->viewport()->height()) << "the list ends before its last line";
        box.hidePopup();
        standsStill();
    }

    const QFont before = QApplication::font();
};

TEST_P(ChoicesOfTheWindow, Fit) {
    auto* stack = window->findChild<PageStack*>();
    QSet<ChoiceBox*> seen;
    for (const PageEntry& page : pageEntries()) {
        stack->showPage(page.name);
        settle();
        for (auto* box : window->findChildren<ChoiceBox*>()) {
            if (!box->isVisible() || box->count() == 0 || seen.contains(box)) continue;
            seen.insert(box);
            check(*box);
        }
    }
    EXPECT_GE(seen.size(), 8);
}

INSTANTIATE_TEST_SUITE_P(All, ChoicesOfTheWindow,
                         testing::Combine(testing::Values(1.0, 1.5), testing::Values("en", "zh_CN")));

TEST(Segments, ShowTheWholeTextOfTheChosenOneWhichIsBold) {
    Theme theme;
    for (const double points : {9.0, 13.5}) {
        Segments segments(u"Values"_s, {u"as computed again"_s, u"in FP32"_s, u"对照 FP32"_s});
        QFont font = segments.font();
        font.setPointSizeF(points);
        segments.setFont(font);
        segments.show();
        for (int i = 0; i < 3; ++i) {
            segments.setCurrent(i);
            standsStill();
            const QStringList faults = ScreenCheck(segments).faults({2000, 200});
            EXPECT_TRUE(faults.isEmpty()) << points << ": " << faults.join(u'\n').toStdString();
        }
    }
}

}  // namespace
}  // namespace ui
