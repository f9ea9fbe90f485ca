#include "widgets/choices.h"

#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QImage>
#include <QStyleOptionButton>

#include "screens/screen_check.h"
#include "support/contrast.h"
#include "support/stillness.h"
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
