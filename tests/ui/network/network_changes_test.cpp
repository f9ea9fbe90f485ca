#include "network/network_changes.h"

#include <gtest/gtest.h>

#include "text/language.h"

namespace ui {
namespace {

std::set<int> changed(const QString& before, const QString& now) { return changedLines(before.split(u' '), now.split(u' ')); }

TEST(NetworkChanges, AreTheLinesThatTheOtherTextLacks) {
    EXPECT_TRUE(changed(u"a b c"_s, u"a b c"_s).empty());
    EXPECT_EQ(changed(u"a b c"_s, u"a x c"_s), (std::set<int>{2}));
    EXPECT_EQ(changed(u"a b c"_s, u"a b x c"_s), (std::set<int>{3}));
    EXPECT_EQ(changed(u"a b c d e"_s, u"a x c d y e"_s), (std::set<int>{2, 5}));
}

TEST(NetworkChanges, AMissingLineMarksTheOneBelowIt) {
    EXPECT_EQ(changed(u"a b c"_s, u"a c"_s), (std::set<int>{2}));
    EXPECT_EQ(changed(u"a b c"_s, u"a b"_s), (std::set<int>{2}));
    EXPECT_TRUE(changedLines({u"a"_s, u"b"_s, u"c"_s}, {u"a"_s, u"c"_s}, false).empty());
    EXPECT_EQ(changedLines({u"a"_s, u"b"_s, u"c"_s}, {u"a"_s, u"x"_s, u"c"_s}, false), (std::set<int>{2}));
    EXPECT_EQ(changedLines({u"a"_s, u"b"_s, u"c"_s, u"d"_s}, {u"a"_s, u"d"_s, u"x"_s}, false), (std::set<int>{3}));
}

}  // namespace
}  // namespace ui
