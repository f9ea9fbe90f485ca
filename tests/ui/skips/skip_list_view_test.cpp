#include "skips/skip_list_view.h"

#include <gtest/gtest.h>

#include <QFontMetrics>
#include <QStyleOptionViewItem>

#include "text/format.h"
#include "theme/theme.h"

namespace ui {
namespace {

/// S7: the steps of a long run all read "999,…".
TEST(SkipDelegate, HasRoomForTheNumberOfEveryStep) {
    Theme theme;
    SkipDelegate delegate(&theme, nullptr);
    const QFontMetrics metrics(Theme::bold());
    const auto room = [&] {
        return delegate.sizeHint(QStyleOptionViewItem(), QModelIndex()).width() - 2 * size::inside;
    };
    const int usual = room();
    for (const std::int64_t step : {8, 9'999, 999'999, 28'878'444}) {
        const QString words = count(step);
        delegate.setWidestStep(words);
        EXPECT_EQ(metrics.elidedText(words, Qt::ElideRight, room()), words);
        EXPECT_GE(room(), usual) << "a short one has the usual room";
    }
}

}  // namespace
}  // namespace ui
