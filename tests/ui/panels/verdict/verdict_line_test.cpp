#include "panels/verdict/verdict_line.h"

#include <gtest/gtest.h>

#include <QLabel>
#include <QTest>
#include <QVBoxLayout>

#include "support/stillness.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

const QString headline = u"No measurable difference."_s;
const QString cost =
    u"At least 16 % slower, 38 % less memory. AMP FP16 does not pay off (0.86×): casts are 45 % of "
    u"its step, and this processor computes 16-bit products no faster than those of 32 bits."_s;

TEST(VerdictLineTest, ShowsItsWholeTextAtEveryWidth) {
    for (const bool two : {true, false}) {
        for (const int width : {1200, 700, 400}) {
            VerdictLine line;
            line.setTwoLines(two);
            line.show({u"check"_s, Qt::black, headline, cost, u"<p>evidence</p>"_s, true});
            line.resize(width, line.heightFor(width));
            line.QWidget::show();
            standsStill();
            for (const auto* text : line.findChildren<QLabel*>()) {
                if (!text->isVisible() || !text->wordWrap()) continue;
                EXPECT_GE(text->height(), text->heightForWidth(text->width())) << width;
                EXPECT_LE(text->geometry().bottom(), line.height()) << width;
                for (const auto* link : line.findChildren<QToolButton*>()) {
                    EXPECT_LE(link->geometry().right(), width);
                    EXPECT_FALSE(link->geometry().intersects(text->geometry())) << width;
                }
            }
        }
    }
}

TEST(VerdictLineTest, KeepsTwoLinesForAShortText) {
    VerdictLine line;
    line.setTwoLines(true);
    line.show({u"dot"_s, Qt::black, u"Short."_s, {}, {}});
    EXPECT_GE(line.heightFor(900), 2 * line.fontMetrics().lineSpacing());
    EXPECT_EQ(line.accessibleName().trimmed(), u"Short."_s);
}

}  // namespace
}  // namespace ui
