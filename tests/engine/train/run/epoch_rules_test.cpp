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

/// The request after the last of epochs with these losses.
RunRequest see(EpochRules& rules, const std::vector<double>& losses) {
    RunRequest last;
    for (const double loss : losses)
        last = rules.on_epoch({{}, {.loss = loss, .metrics = {}}, 1, 1});
    return last;
}

SavedRun saved(const EpochRules& rules) {
    SavedRun out;
    rules.save_state(out);
    return out;
}

TEST(EpochRules, DropTheRateAndEndTheRunWhenNothingImproves) {
    EpochRules rules(config_with(both_rules), {});
    const RunRequest first = see(rules, {1, 1});
    EXPECT_EQ(first.rate, 0.5);
    EXPECT_FALSE(first.stop);
    const RunRequest last = see(rules, {1, 1});
    EXPECT_EQ(last.rate, 0.125);
    EXPECT_TRUE(last.stop);
}

TEST(EpochRules, AreNoneByDefault) {
    EpochRules rules(config_with({}), {});
    const RunRequest last = see(rules, std::vector<double>(100, 1.0));
    EXPECT_EQ(last.rate, 1);
    EXPECT_FALSE(last.stop);
}

TEST(EpochRules, AnEpochWithoutAnyEvaluatedPartDoesNotCount) {
    EpochRules rules(config_with(both_rules), {});
    for (int i = 0; i < 10; ++i) {
        const RunRequest request = rules.on_epoch({{}, {}, i, i});
        EXPECT_FALSE(request.rate.has_value());
        EXPECT_FALSE(request.stop);
    }
}

/// The epoch (from 1) after which these losses end the run; 0: they do not.
int stopped_after(EpochRules& rules, const std::vector<double>& losses) {
    for (std::size_t i = 0; i < losses.size(); ++i) {
        if (see(rules, {losses[i]}).stop) return static_cast<int>(i) + 1;
    }
    return 0;
}

TEST(EpochRules, EndTheRunAfterSoManyEpochsWithoutABetterOne) {
    EpochRules rules(config_with({"early_stopping.patience=2"}), {});
    EXPECT_EQ(stopped_after(rules, {3, 2, 2.5, 1, 1, 1.5, 0.5}), 6);
}

TEST(EpochRules, AGainOfMinDeltaOrLessDoesNotCount) {
    EpochRules strict(config_with({"early_stopping.patience=1", "early_stopping.min_delta=0.5"}),
                      {});
    EXPECT_EQ(stopped_after(strict, {3, 2, 1.5}), 3);
    EpochRules lax(config_with({"early_stopping.patience=1", "early_stopping.min_delta=0.25"}), {});
    EXPECT_EQ(stopped_after(lax, {3, 2, 1.5}), 0);
}

TEST(EpochRules, GoOnFromWhatWasSaved) {
    EpochRules before(config_with(both_rules), {});
    see(before, {1, 2});
    EpochRules after(config_with(both_rules), {});
    EXPECT_EQ(after.load_state(saved(before)).rate, 0.5);
    for (EpochRules* rules : {&before, &after}) EXPECT_FALSE(see(*rules, {1.5}).stop);
    for (EpochRules* rules : {&before, &after}) EXPECT_TRUE(see(*rules, {1.25}).stop);
    EXPECT_TRUE(EpochRules(config_with(both_rules), {}).load_state(saved(after)).stop);
    EXPECT_EQ(saved(after).rules, saved(before).rules);
}

TEST(EpochRules, APlateauThatAnotherScheduleDidNotSaveBeginsAnew) {
    EpochRules before(config_with({"early_stopping.patience=3"}), {});
    see(before, {1, 2});
    EpochRules after(config_with(both_rules), {});
    EXPECT_EQ(after.load_state(saved(before)).rate, 1);
    EXPECT_TRUE(see(after, {2, 2}).stop) << "what early stopping saw counts";
}

}  // namespace
}  // namespace engine
