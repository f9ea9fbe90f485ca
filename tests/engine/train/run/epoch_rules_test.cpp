#include "train/run/epoch_rules.h"

#include <gtest/gtest.h>

namespace engine {
namespace {

RunConfig config_with(const std::vector<std::string>& overrides) {
    const ParsedConfig parsed = parse_run_config("{}", overrides);
    for (const auto& error : parsed.errors) ADD_FAILURE() << error.str();
    return parsed.config;
}

const std::vector<std::string> both_rules = {"schedule.kind=plateau", "schedule.gamma=0.5",
                                             "schedule.patience=0", "early_stopping.patience=3"};

void see(EpochRules& rules, const std::vector<double>& losses) {
    for (const double loss : losses) rules.see({}, {.loss = loss, .metrics = {}}, 1, 1);
}

TEST(EpochRules, DropTheRateAndEndTheRunWhenNothingImproves) {
    EpochRules rules(config_with(both_rules), {});
    see(rules, {1, 1});
    EXPECT_EQ(rules.rate_multiplier(), 0.5);
    EXPECT_FALSE(rules.stop());
    see(rules, {1, 1});
    EXPECT_EQ(rules.rate_multiplier(), 0.125);
    EXPECT_TRUE(rules.stop());
}

TEST(EpochRules, AreNoneByDefault) {
    EpochRules rules(config_with({}), {});
    see(rules, std::vector<double>(100, 1.0));
    EXPECT_EQ(rules.rate_multiplier(), 1);
    EXPECT_FALSE(rules.stop());
}

TEST(EpochRules, AnEpochWithoutAnyEvaluatedPartDoesNotCount) {
    EpochRules rules(config_with(both_rules), {});
    for (int i = 0; i < 10; ++i) rules.see({}, {}, i, i);
    EXPECT_EQ(rules.rate_multiplier(), 1);
    EXPECT_FALSE(rules.stop());
}

TEST(EpochRules, GoOnFromWhatWasSaved) {
    EpochRules before(config_with(both_rules), {});
    see(before, {1, 2});
    EpochRules after(config_with(both_rules), {});
    after.load_state(before.saved_state());
    EXPECT_EQ(after.rate_multiplier(), 0.5);
    for (EpochRules* rules : {&before, &after}) see(*rules, {1.5});
    EXPECT_FALSE(after.stop());
    for (EpochRules* rules : {&before, &after}) see(*rules, {1.25});
    EXPECT_TRUE(after.stop());
    EXPECT_EQ(after.saved_state(), before.saved_state());
}

TEST(EpochRules, APlateauThatAnotherScheduleDidNotSaveBeginsAnew) {
    EpochRules before(config_with({"early_stopping.patience=3"}), {});
    see(before, {1, 2});
    EpochRules after(config_with(both_rules), {});
    after.load_state(before.saved_state());
    EXPECT_EQ(after.rate_multiplier(), 1);
    see(after, {2, 2});
    EXPECT_TRUE(after.stop()) << "what early stopping saw counts";
}

}  // namespace
}  // namespace engine
