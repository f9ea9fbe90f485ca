#include "network/text_options.h"

#include <gtest/gtest.h>

#include "network/grammar.h"

namespace engine::network {
namespace {

std::vector<OptionSpec> options(const std::string& lines, std::size_t faulty = 0) {
    std::vector<NetworkFault> faults;
    const NetworkSyntax syntax = parse_network(lines + "network(image):\n  ReLU\n", faults);
    auto out = text_options(syntax, faults);
    EXPECT_EQ(faults.size(), faulty) << lines << (faults.empty() ? "" : faults[0].text.str());
    return out;
}

TEST(TextOptions, HaveTypeRangeWordsAndHelp) {
    const auto all = options("option a = true\noption b = 3 in 1..64 \"Help\"\noption c = 0.5\noption d = none of none, tanh\noption e = [1, 2]\noption f = [relu]\n");
    ASSERT_EQ(all.size(), 6u);
    EXPECT_TRUE(std::holds_alternative<bool>(all[0].default_value));
    EXPECT_EQ(std::get<std::int64_t>(all[1].default_value), 3);
    EXPECT_EQ(all[1].lowest, 1);
    EXPECT_EQ(all[1].highest, 64);
    EXPECT_EQ(all[1].help, "Help");
    EXPECT_TRUE(all[1].prominent);
    EXPECT_TRUE(std::holds_alternative<double>(all[2].default_value));
    EXPECT_EQ(all[3].choices.size(), 2u);
    EXPECT_EQ(std::get<std::vector<std::int64_t>>(all[4].default_value).size(), 2u);
    EXPECT_EQ(std::get<std::vector<std::string>>(all[5].default_value), std::vector<std::string>{"relu"});
}

TEST(TextOptions, FaultyOnesAreReported) {
    options("option a = [1, relu]\n", 1);
    options("option a = [[1]]\n", 1);
    options("option a = 65 in 1..64\n", 1);
    options("option a = relu of gelu, tanh\n", 1);
    options("option a = relu in 1..2\n", 1);
    options("option a = 1\noption a = 2\n", 1);
    std::string many;
    for (int i = 0; i < 201; ++i) many += "option a" + std::to_string(i) + " = 1\n";
    options(many, 1);
}

TEST(TextOptions, AnEmptyRangeIsReportedAndNotTheDefault) {
    std::vector<NetworkFault> faults;
    text_options(parse_network("option a = 5 in 3..1\nnetwork(image):\n  ReLU\n", faults), faults);
    ASSERT_EQ(faults.size(), 1u);
    EXPECT_EQ(faults[0].text.str(), "a: the range 3 to 1 is empty.");
}

}  // namespace
}  // namespace engine::network
