#include "text/time_left.h"

#include <gtest/gtest.h>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

TEST(TimeLeft, IsToldOnceThePaceIsKnown) {
    TimeLeft left;
    EXPECT_EQ(left.after(0, 10), QString());
    EXPECT_EQ(left.after(0.5, 70), u"1:00 left"_s);
    EXPECT_EQ(left.after(0.1, 71), QString()) << "other work";
    EXPECT_EQ(TimeLeft().behind(u"3 of 5 files"_s, 0.6), u"3 of 5 files"_s);
}

}  // namespace
}  // namespace ui
