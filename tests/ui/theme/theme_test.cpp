#include "theme/theme.h"

#include <gtest/gtest.h>

#include <QImage>
#include <QLabel>
#include <QPushButton>
#include <QSettings>
#include <QTest>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

/// Whether the widget paints pixels of this colour.
bool paints(QWidget& widget, const QColor& color) {
    const QImage image = widget.grab().toImage();
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x)
            if (image.pixelColor(x, y).rgb() == color.rgb()) return true;
    return false;
}

TEST(Theme, LinksInLabelsHaveItsColoursAfterItWasChanged) {
    Theme theme;
    theme.setChoice(Theme::Choice::light);
    QLabel label(u"<a href='#'>\u2588\u2588\u2588</a>"_s);
    label.setTextFormat(Qt::RichText);
    label.resize(120, 40);
    EXPECT_TRUE(paints(label, lightTokens().accent));
    theme.setChoice(Theme::Choice::dark);
    EXPECT_TRUE(paints(label, darkTokens().accent));
    EXPECT_FALSE(paints(label, lightTokens().accent));
    EXPECT_TRUE(label.text().contains(u"href"_s));
    QSettings().remove(u"theme"_s);
}

TEST(Theme, AButtonThatWasClickedHasItsBorderAsItsOnlyMark) {
    const Theme theme(Theme::Choice::light);
    QWidget window;
    QPushButton button(&window);
    button.resize(120, 40);
    window.resize(200, 80);
    window.show();
    window.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
    button.setFocus(Qt::MouseFocusReason);
    ASSERT_TRUE(button.hasFocus());
    const QImage image = button.grab().toImage();
    const int scale = static_cast<int>(image.devicePixelRatio());
    for (int x = 8 * scale; x < image.width() - 8 * scale; ++x) {
        EXPECT_EQ(image.pixelColor(x, image.height() / 2).rgb(), lightTokens().field.rgb()) << x;
        EXPECT_EQ(image.pixelColor(x, image.height() / 4).rgb(), lightTokens().field.rgb()) << x;
    }
}

TEST(Theme, RunsHaveTheColourOfTheirPrecisionOrOneOfTheirOwn) {
    const Theme theme(Theme::Choice::light);
    EXPECT_EQ(theme.run("fp32", -1), theme.precision("fp32"));
    EXPECT_EQ(theme.run("fp32", 1), lightTokens().own[1]);
    EXPECT_EQ(theme.run("fp32", 6), lightTokens().own[1]) << "used up: from the first again";
}

}  // namespace
}  // namespace ui
