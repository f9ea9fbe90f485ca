#include "amp/dispatch.h"

#include <gtest/gtest.h>

namespace engine {
namespace {

/// The key of the rule that applies; "" if none does.
std::string deciding(const ForceRules& rules, const char* module, const char* op) {
    const ForceRule* rule = rules.find(module, op);
    return rule == nullptr ? "" : rule->key;
}

ForceRule rule(const char* module, const char* op, DType type = DType::f16) {
    return {std::string(module) + ":" + op, module, op, type};
}

TEST(ForceRules, AModuleStandsForAllInsideIt) {
    const ForceRules rules({rule("layer1", "")});
    EXPECT_EQ(deciding(rules, "layer1", "relu"), "layer1:");
    EXPECT_EQ(deciding(rules, "layer1.0.conv1", "conv2d"), "layer1:");
    EXPECT_EQ(deciding(rules, "layer10", "conv2d"), "") << "a name that begins the same";
    EXPECT_EQ(deciding(rules, "fc", "linear"), "");
    EXPECT_EQ(deciding(rules, "", "cross_entropy"), "");
}

TEST(ForceRules, TheLongestModuleWinsWhateverTheOrder) {
    const std::vector<ForceRule> keys = {rule("a", ""), rule("a.b", ""), rule("a.b.c", "")};
    for (const auto& order : {std::vector{0, 1, 2}, {2, 1, 0}, {1, 2, 0}}) {
        std::vector<ForceRule> given;
        for (const int i : order) given.push_back(keys[static_cast<std::size_t>(i)]);
        const ForceRules rules(given);
        EXPECT_EQ(deciding(rules, "a.b.c.d", "relu"), "a.b.c:");
        EXPECT_EQ(deciding(rules, "a.b", "relu"), "a.b:");
        EXPECT_EQ(deciding(rules, "a.x", "relu"), "a:");
    }
}

TEST(ForceRules, AnOperationRefinesItsModuleAndNothingLonger) {
    const ForceRules rules({rule("", "relu"), rule("a", ""), rule("a", "relu"), rule("a.b", "")});
    EXPECT_EQ(deciding(rules, "", "relu"), ":relu");
    EXPECT_EQ(deciding(rules, "c", "relu"), ":relu");
    EXPECT_EQ(deciding(rules, "c", "gelu"), "");
    EXPECT_EQ(deciding(rules, "a", "gelu"), "a:") << "a module beats an operation";
    EXPECT_EQ(deciding(rules, "a", "relu"), "a:relu") << "both beat the module alone";
    EXPECT_EQ(deciding(rules, "a.c", "relu"), "a:relu");
    EXPECT_EQ(deciding(rules, "a.b", "relu"), "a.b:") << "a longer module beats an operation";
}

}  // namespace
}  // namespace engine
