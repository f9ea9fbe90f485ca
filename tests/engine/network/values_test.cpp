#include "network/values.h"

#include <gtest/gtest.h>

#include "checked.h"

namespace engine::network {
namespace {

/// The first size of the weight of a layer whose size is the expression.
std::int64_t computed(const std::string& expression) {
    const CheckedNetwork network = check_body("a: Linear(" + expression + ")\nLinear(outputs)");
    for (const auto& text : fault_texts(network)) ADD_FAILURE() << expression << ": " << text;
    return network.parameters.empty() ? -1 : network.parameters[0].sizes[0];
}

std::string refused(const std::string& expression) { return fault_text("a: Linear(" + expression + ")"); }

TEST(NetworkValues, OperatorsComputeAsWritten) {
    EXPECT_EQ(computed("16/2"), 8);
    EXPECT_EQ(computed("2^3^2"), 512);
    EXPECT_EQ(computed("-2^2 + 8"), 4);
    EXPECT_EQ(computed("-7 // 2 + 8"), 4);
    EXPECT_EQ(computed("-7 % 4"), 1);
    EXPECT_EQ(computed("3 if not 1 > 2 and true else 5"), 3);
    EXPECT_EQ(computed("[1, 2, 3][-1] + [4][0] * 2"), 11);
    EXPECT_EQ(computed("size([1, 2] + [3])"), 3);
    EXPECT_EQ(computed("in.width + 1"), 21);
    EXPECT_EQ(computed("image.channels + image.height"), 35);
}

TEST(NetworkValues, TheLineAboveHasSizesUnderItsNameAlone) {
    EXPECT_EQ(fault_text("ReLU\nLinear(above.width)"), "2:8: above.width: above is a value behind from alone. Give the line above a name, as in x = ReLU, and write x.width.");
    EXPECT_EQ(fault_text("ReLU\nLinear(above)"), "2:8: above: above is a value behind from alone. Give the line above a name, as in x = ReLU, and write x.channels.");
    EXPECT_EQ(fault_text("x = ReLU\nLinear(x.width)\nLinear(outputs)"), "");
}

TEST(NetworkValues, AFractionIsNoWholeNumber) {
    EXPECT_THAT(refused("7/2"), testing::HasSubstr("out_features takes a whole number, not 3.5."));
    EXPECT_EQ(computed("4.0"), 4);
    EXPECT_EQ(computed("2^-1 * 4"), 2);
    EXPECT_THAT(refused("0.5"), testing::HasSubstr("not 0.5."));
}

TEST(NetworkValues, ResultsStayInTheirRange) {
    EXPECT_THAT(refused("4 // 0"), testing::HasSubstr("4 // 0 is not a finite number."));
    EXPECT_THAT(refused("1 % 0"), testing::HasSubstr("is not a finite number."));
    EXPECT_THAT(refused("2^62"), testing::HasSubstr("2 ^ 62 is out of range."));
    EXPECT_THAT(refused("2^61 * 2"), testing::HasSubstr("is out of range."));
    EXPECT_THAT(refused("0^-1"), testing::HasSubstr("is not a finite number."));
    EXPECT_THAT(refused("10.0^400"), testing::HasSubstr("is not a finite number."));
}

TEST(NetworkValues, NumbersStayBelowTheirLimit) {
    EXPECT_EQ(refused("4611686018427387904"), "1:11: 4611686018427387904 is out of range.");
    EXPECT_THAT(refused("(-2)^63"), testing::HasSubstr("is out of range."));
    for (const char* range : {"-9223372036854775807..9223372036854775807", "9223372036854775800..9223372036854775807"})
        EXPECT_THAT(fault_texts(check_body("repeat i in " + std::string(range) + ": ReLU\nLinear(outputs)")), testing::Each(testing::HasSubstr("is out of range.")));
    EXPECT_THAT(fault_text("repeat i in -(2^62 - 1)..2^61: ReLU"), testing::HasSubstr("is out of range."));
    EXPECT_THAT(fault_text("repeat i in 1 - 2^61..2^61: ReLU"), testing::HasSubstr("at most 1000 times."));
}

TEST(NetworkValues, LargeWholeNumbersAreComparedExactly) {
    EXPECT_EQ(computed("1 if 2^61 < 2^61 + 1 else 2"), 1);
    EXPECT_EQ(computed("1 if 2^61 >= 2^61 + 1 else 2"), 2);
}

TEST(NetworkValues, ListsInsideListsAreBounded) {
    std::string ones = "1";
    for (int i = 1; i < 100; ++i) ones += ",1";
    std::string copies = "a";
    for (int i = 1; i < 100; ++i) copies += ",a";
    const std::string text = "let a = [" + ones + "]\nlet b = [" + copies + "]";
    EXPECT_THAT(fault_text(text), testing::StartsWith("2:9: A list of more than 10000 items, with those of the lists in it."));
    std::string nested = "let a = [1]";
    for (int i = 0; i < 64; ++i) nested += "\nlet a = [a]";
    EXPECT_THAT(fault_text(nested), testing::StartsWith("65:9: More than 64 lists inside one another."));
    // A list is not copied where one of its items is read.
    EXPECT_EQ(fault_text("let a = [" + ones + "]\nrepeat 300 as i:\n  repeat 200:\n    let b = a[7] + size(a)\nLinear(outputs)"), "");
}

TEST(NetworkValues, TypesAreNotMixed) {
    EXPECT_THAT(fault_text("a: Linear(8) if 1"), testing::HasSubstr("1 is neither true nor false."));
    EXPECT_THAT(refused("1 + true"), testing::HasSubstr("true is not a number."));
    EXPECT_THAT(refused("[1][1]"), testing::HasSubstr("There is no item 1 in a list of 1"));
    EXPECT_THAT(refused("3[0]"), testing::HasSubstr("3 is not a list."));
    EXPECT_THAT(refused("size(3)"), testing::HasSubstr("size takes one list"));
    EXPECT_THAT(refused("area(3)"), testing::HasSubstr("area: there is no such function here. The only one is size, the number of items of a list."));
    EXPECT_THAT(fault_text("a: Linear(3, init=gaussian(0.1))"), testing::HasSubstr("gaussian: there is no such function here. The rules for initial weights are zeros, ones, "));
}

TEST(NetworkValues, SizesThatOnlyTheDataKnowAreNamed) {
    EXPECT_THAT(refused("tokens.length"), testing::HasSubstr("out_features takes a whole number, not T."));
    EXPECT_THAT(refused("tokens.length * 2"), testing::HasSubstr("The window length T is symbolic"));
    EXPECT_THAT(refused("in.height"), testing::HasSubstr("in.height: the value is N x 20 and has no height."));
    EXPECT_THAT(refused("image"), testing::HasSubstr("image is a value of the network, not a number."));
}

TEST(NetworkValues, ALongListIsCutInAMessage) {
    std::string items = "1000000";
    for (int i = 1; i < 900; ++i) items += ", 1000000";
    const std::string text = refused("[" + items + "] + 1");
    EXPECT_THAT(text, testing::HasSubstr("[1000000, 1000000"));
    EXPECT_THAT(text, testing::EndsWith("\u2026 is not a number."));
    EXPECT_LT(text.size(), 150u);
}

TEST(NetworkValues, WordsOfAnOptionAreKnownWhereItsItemsAre) {
    const char* text =
        "option g = [relu, tanh] of relu, tanh, gelu\n"
        "block B(act):\n"
        "  Linear(8) if act == relu\n"
        "  Linear(4) if relu != act\n"
        "network(features):\n"
        "  repeat a in g:\n"
        "    B(a)\n"
        "    Linear(5) if a == tanh\n"
        "  Linear(6) if g[0] == relu and g[-1] != gelu\n"
        "  Linear(outputs)\n";
    const CheckedNetwork network = check_network(text, small_data());
    for (const auto& fault : fault_texts(network)) ADD_FAILURE() << fault;
    std::vector<std::int64_t> widths;
    for (const NetworkParameter& parameter : network.parameters)
        if (parameter.sizes.size() == 1) widths.push_back(parameter.sizes[0]);
    EXPECT_EQ(widths, (std::vector<std::int64_t>{8, 4, 5, 6, 10}));
    EXPECT_THAT(fault_text("let a = relu\nLinear(outputs)"), testing::HasSubstr("relu: there is no such value"));
}

TEST(NetworkValues, AMisspeltNameIsSuggested) {
    const CheckedNetwork network = check_network("option width = 3\nnetwork(features):\n  a: Linear(widht)\n", small_data());
    ASSERT_EQ(network.faults.size(), 1u);
    EXPECT_EQ(network.faults[0].text.str(), "widht: there is no such value, option or parameter here. Did you mean width?");
    EXPECT_EQ(network.faults[0].replacement, "width");
    EXPECT_EQ(network.faults[0].place, (TextPlace{3, 13, 5}));
}

}  // namespace
}  // namespace engine::network
