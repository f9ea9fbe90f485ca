#include "widgets/segments.h"

#include <gtest/gtest.h>

#include <QAbstractButton>

#include "screens/screen_check.h"
#include "support/stillness.h"
#include "theme/theme.h"

namespace ui {
namespace {

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
