#include "network/python_text.h"

#include <gtest/gtest.h>

namespace engine::network {
namespace {

std::string written(const std::string& before, const Python& expression, int indent = 0) {
    std::string out;
    write_python(out, indent, before, expression, {});
    return out;
}

TEST(PythonText, ALineThatFitsStaysOne) {
    EXPECT_EQ(written("x = ", python_call("f", {"1", python_named("b", "2"), python_named("c", "3", "3")})), "x = f(1, b=2)\n");
    EXPECT_EQ(written("x = ", python_call("f", {})), "x = f()\n");
    EXPECT_EQ(written("", python_list({"1", python_call({}, {"2", "3"})})), "[1, (2, 3)]\n");
}

/// The widest line has 88 characters; black's own layout of longer ones.
TEST(PythonText, ALongLineIsPartedAsBlackDoes) {
    const std::string name(30, 'a');
    EXPECT_EQ(written("x = ", python_call("f", {name, name, std::string(17, 'b')})).size(), 89u);
    EXPECT_EQ(written("x = ", python_call("f", {name, name, std::string(18, 'b')})),
              "x = f(\n    " + name + ", " + name + ", " + std::string(18, 'b') + "\n)\n");
    EXPECT_EQ(written("x = ", python_call("f", {name, name, name})), "x = f(\n    " + name + ",\n    " + name + ",\n    " + name + ",\n)\n");
    const Python inner = python_call("g", {name, name, name});
    EXPECT_EQ(written("x = ", python_call("f", {inner}), 4),
              "    x = f(\n        g(\n            " + name + ",\n            " + name + ",\n            " + name + ",\n        )\n    )\n");
}

TEST(PythonText, PartedItemsStandOneALine) {
    Python parted = python_call("nn.Sequential", {"a", "b"});
    parted.parted = true;
    EXPECT_EQ(written("x = ", parted), "x = nn.Sequential(\n    a,\n    b,\n)\n");
}

TEST(PythonText, StringsAndNames) {
    EXPECT_EQ(python_string("a\\b\x01"), "\"a\\\\b\\x01\"");
    EXPECT_TRUE(is_python_name("conv1"));
    for (const char* each : {"1x1", "a-b", "", "class", "\xC3\xA4"}) EXPECT_FALSE(is_python_name(each)) << each;
}

}  // namespace
}  // namespace engine::network
