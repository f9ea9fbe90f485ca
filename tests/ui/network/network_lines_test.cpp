#include "network/network_lines.h"

#include <gtest/gtest.h>

namespace ui {
namespace {

using Kind = NetworkLine::Kind;

TEST(NetworkLines, FindBodiesAndNames) {
    const auto lines = networkLines(
        u"option width = 16 in 4..512 \"if # this\"  # no: body\n"
        "block Conv(out):\n"
        "  conv1: Conv2d(out, 3)\n"
        "\n"
        "  down: from in if out != 3\n"
        "    BatchNorm2d\n"
        "network(image):\n"
        "  repeat 2 as i:\n"
        "    stage{i + 1}: Conv(width)\n"
        "  x = ReLU\n"
        "  let n = 3 if width == 4 else 5\n"
        "  fc: Linear(outputs)\n"_s);
    ASSERT_EQ(lines.size(), 13u);
    EXPECT_EQ(lines[0].kind, Kind::option);
    EXPECT_FALSE(lines[0].conditional);
    EXPECT_EQ(lines[1].kind, Kind::block);
    EXPECT_EQ(lines[1].callee, u"Conv"_s);
    EXPECT_EQ(lines[1].end, 5);
    EXPECT_EQ(lines[2].label, u"conv1"_s);
    EXPECT_EQ(lines[2].callee, u"Conv2d"_s);
    EXPECT_EQ(lines[2].head, 1);
    EXPECT_EQ(lines[3].kind, Kind::none);
    EXPECT_EQ(lines[4].kind, Kind::container);
    EXPECT_TRUE(lines[4].conditional);
    EXPECT_EQ(lines[4].end, 5);
    EXPECT_EQ(lines[5].head, 4);
    EXPECT_EQ(lines[7].kind, Kind::repeat);
    EXPECT_EQ(lines[7].end, 8);
    EXPECT_EQ(lines[8].label, u"stage{i + 1}"_s);
    EXPECT_EQ(lines[9].label, u"x"_s);
    EXPECT_EQ(lines[9].callee, u"ReLU"_s);
    EXPECT_EQ(lines[10].kind, Kind::let);
    EXPECT_EQ(lines[6].end, 11);
}

TEST(NetworkLines, ALineThatIsContinuedIsOne) {
    const auto lines = networkLines(
        u"network(image):\n"
        "  a: Conv2d(8,\n"
        "      3) if true\n"
        "  ReLU\n"_s);
    EXPECT_TRUE(lines[1].conditional);
    EXPECT_EQ(lines[1].end, 1);
    EXPECT_EQ(lines[2].kind, Kind::none);
    EXPECT_EQ(lines[3].head, 0);
}

}  // namespace
}  // namespace ui
