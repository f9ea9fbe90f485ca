#include "widgets/check_box.h"

#include <gtest/gtest.h>

#include <QImage>
#include <QStyleOptionButton>

#include "support/contrast.h"
#include "theme/theme.h"

namespace ui {
namespace {

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

}  // namespace
}  // namespace ui
