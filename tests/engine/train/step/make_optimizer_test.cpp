#include "train/step/make_optimizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "optim/optimizers.h"
#include "support/golden_file.h"

// Compares learning rates with PyTorch's schedulers, from the file that
// tests/peer/schedule_golden.py writes.

namespace engine {
namespace {

using nlohmann::json;

/// The settings that correspond to a variant of the script.
RunConfig config_of(const json& variant) {
    std::vector<std::string> overrides = {"optimizer.lr=" + variant.at("lr").dump()};
    for (const auto& [name, value] : variant.items()) {
        if (name == "name" || name == "lr" || name == "planned" || name == "per_epoch") continue;
        overrides.push_back("schedule." + name + "=" + value.dump());
    }
    const ParsedConfig parsed = parse_run_config("{}", overrides);
    for (const auto& error : parsed.errors) ADD_FAILURE() << error.str();
    return parsed.config;
}

kernels::LearningRateSchedule schedule_of_variant(const json& variant) {
    return make_schedule(config_of(variant), {variant.at("planned").get<std::int64_t>(),
                                              variant.value("per_epoch", std::int64_t{0})});
}

/// PyTorch multiplies from one rate to the next, with at most 6 roundings per step. 1 + cos(x) has
/// an absolute error of two roundings of 1, in PyTorch and here.
double slack(double base, double rate, std::size_t steps) {
    return rate * 6 * static_cast<double>(steps + 1) * 0x1p-53 + base * 4 * 0x1p-53;
}

TEST(MakeSchedule, FollowsPyTorchsSchedulersSteppedOnAppliedUpdates) {
    const test::GoldenFile golden("schedules");
    const auto skipped = golden.setting("skipped").get<std::vector<std::size_t>>();
    for (const json& variant : golden.setting("variants")) {
        const auto name = variant.at("name").get<std::string>();
        const auto schedule = schedule_of_variant(variant);
        const auto rates = golden.tensor(name + ".rates").values();
        std::int64_t updates = 0;
        for (std::size_t step = 0; step < rates.size(); ++step) {
            EXPECT_NEAR(learning_rate(schedule, updates), rates[step],
                        slack(schedule.base, rates[step], step))
                << name << " step " << step;
            updates += std::find(skipped.begin(), skipped.end(), step) == skipped.end() ? 1 : 0;
        }
        EXPECT_EQ(updates, variant.at("planned"));
    }
}

// The schedule on the device, where a skipped step does not change the count of updates.
TEST(MakeSchedule, IsFollowedByAnOptimizerThatSkipsSteps) {
    const test::GoldenFile golden("schedules");
    const auto skipped = golden.setting("skipped").get<std::vector<std::size_t>>();
    for (const json& variant : golden.setting("variants")) {
        const auto name = variant.at("name").get<std::string>();
        const auto schedule = schedule_of_variant(variant);
        const auto rates = golden.tensor(name + ".rates").values();
        const Tensor weight = Tensor::full({1}, 1, DType::f32);
        Sgd optimizer({{"w", weight}}, {.lr = 1}, {.scaling_aware = true});
        for (std::size_t step = 0; step < rates.size(); ++step) {
            const bool skip = std::find(skipped.begin(), skipped.end(), step) != skipped.end();
            weight.set_grad(Tensor::full({1}, 0, DType::f32));
            optimizer.found_inf = Tensor::full({}, skip ? 1 : 0, DType::f32);
            optimizer.set_lr(schedule);
            const double half_unit = rates[step] * 0x1p-24;
            EXPECT_NEAR(optimizer.lr(), rates[step],
                        half_unit + slack(schedule.base, rates[step], step))
                << name << " step " << step;
            optimizer.step();
        }
        EXPECT_EQ(optimizer.steps(), variant.at("planned"));
    }
}

TEST(MakeSchedule, StaysAtItsEndAfterThePlannedUpdates) {
    const test::GoldenFile golden("schedules");
    for (const json& variant : golden.setting("variants")) {
        if (variant.at("kind") == "step") continue;
        const auto schedule = schedule_of_variant(variant);
        const auto planned = variant.at("planned").get<std::int64_t>();
        EXPECT_EQ(learning_rate(schedule, planned), learning_rate(schedule, planned + 1000))
            << variant;
    }
}

TEST(MakeSchedule, OneCycleTakesTheOptimizersRateAsTheLargestUnlessItHasItsOwn) {
    const json cycle = {{"kind", "one-cycle"}, {"lr", 0.25}};
    EXPECT_EQ(make_schedule(config_of(cycle), 10).base, 0.25);
    const json own = {{"kind", "one-cycle"}, {"lr", 0.25}, {"max_lr", 0.5}};
    EXPECT_EQ(make_schedule(config_of(own), 10).base, 0.5);
}

TEST(MakeSchedule, MilestonesInEpochsNeedTheLengthOfTheRun) {
    json variant = {{"kind", "multi-step"}, {"lr", 0.5}, {"milestones", {1}}, {"unit", "epochs"}};
    RunConfig config = config_of(variant);
    config.epochs = 3;
    EXPECT_EQ(learning_rate(make_schedule(config, 10), 3), 0.5);
    EXPECT_EQ(learning_rate(make_schedule(config, 10), 4), 0.5 * 0.1) << "10 of 3 epochs";
    EXPECT_EQ(learning_rate(make_schedule(config, {10, 2}), 2), 0.5 * 0.1);
    EXPECT_EQ(learning_rate(make_schedule(config, 0), 9), 0.5) << "unknown";
}

TEST(MakeSchedule, MilestonesMustRise) {
    for (const char* wrong : {"[]", "[3,3]", "[4,2]", "[0]", "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]"}) {
        const ParsedConfig parsed = parse_run_config(
            "{}", {"schedule.kind=multi-step", std::string("schedule.milestones=") + wrong});
        ASSERT_EQ(parsed.errors.size(), 1u) << wrong;
        EXPECT_EQ(parsed.errors[0].field, "schedule.milestones") << wrong;
    }
}

TEST(MakeSchedule, RefusesTooManyMilestonesOfSettingsThatWereNotChecked) {
    RunConfig config;
    config.schedule.kind = "multi-step";
    config.schedule.options["milestones"] = std::vector<std::int64_t>(100, 1);
    EXPECT_THROW((void)make_schedule(config, 10), Error);
    EXPECT_FALSE(falls_to_end(config)) << "needs no milestone";
}

TEST(MakeSchedule, AWarmUpThatIsLongerThanTheRunRisesToItsEnd) {
    const json variant = {{"kind", "cosine"}, {"lr", 0.5}, {"warmup_steps", 7}};
    const auto schedule = make_schedule(config_of(variant), 4);
    for (std::int64_t update = 0; update < 7; ++update)
        EXPECT_EQ(learning_rate(schedule, update), 0.5 * static_cast<double>(update + 1) / 8);
    EXPECT_EQ(learning_rate(schedule, 7), 0.5);
}

RunConfig cosine_config(const std::string& lengthened = "") {
    RunConfig config;
    config.schedule.kind = "cosine";
    config.schedule.options["lengthened"] = lengthened;
    return config;
}

TEST(WriteLengthening, SaysWhereTheEarlierScheduleEnds) {
    const RunConfig config = cosine_config();
    EXPECT_EQ(write_lengthening(config, {10, 10, 10}, LongerSchedule::cycle), "cycle 0 10 10 10");
    EXPECT_EQ(write_lengthening(config, {10, 10, 8}, LongerSchedule::cycle), "cycle 0 8 10 10")
        << "two steps were skipped";
    EXPECT_EQ(write_lengthening(config, {10, 6, 5}, LongerSchedule::constant),
              "constant 0 9 10 10");
    EXPECT_EQ(write_lengthening(config, {10, 10, 0}, LongerSchedule::cycle), "cycle 0 1 10 10")
        << "no update was applied";
    EXPECT_EQ(write_lengthening(config, {10, 10, 10}, LongerSchedule::stretch), "");
}

TEST(WriteLengthening, OfALengthenedRunBeginsAtItsLastPart) {
    EXPECT_EQ(
        write_lengthening(cosine_config("cycle 0 10 10 10"), {30, 30, 30}, LongerSchedule::cycle),
        "cycle 10 30 20 30");
    EXPECT_EQ(write_lengthening(cosine_config("constant 0 10 10 10"), {30, 12, 12},
                                LongerSchedule::constant),
              "constant 0 10 10 10")
        << "the rate stays";
    EXPECT_THROW((void)write_lengthening(cosine_config("cycle 0 10 10 10"), {30, 8, 8},
                                         LongerSchedule::cycle),
                 Error);
    EXPECT_THROW((void)write_lengthening(cosine_config("constant 0 10 10 10"), {30, 20, 20},
                                         LongerSchedule::cycle),
                 Error);
}

TEST(WriteLengthening, GivesTheRatesOfBothParts) {
    const auto first = make_schedule(cosine_config(), 10);
    const auto cycle = make_schedule(cosine_config("cycle 0 8 10 10"), 14);
    const auto constant = make_schedule(cosine_config("constant 0 8 10 10"), 14);
    const auto second = make_schedule(cosine_config(), 4);
    for (std::int64_t update = 0; update < 12; ++update) {
        EXPECT_EQ(learning_rate(cycle, update),
                  update < 8 ? learning_rate(first, update) : learning_rate(second, update - 8));
        EXPECT_EQ(learning_rate(constant, update),
                  learning_rate(first, std::min<std::int64_t>(update, 7)));
    }
}

TEST(WriteLengthening, OtherTextIsRefused) {
    for (const char* text :
         {"yes", "cycle", "cycle 0 10 10", "cycle 0 10 10 10 10", "cycle 10 10 1 1",
          "cycle -1 10 10 10", "cycle 0 10 0 10", "cycle 0 10 10 0", "linear 0 10 10 10",
          "cycle 0 1e3 10 10", "cycle 0 99999999999999999999 10 10"})
        EXPECT_THROW((void)make_schedule(cosine_config(text), 20), Error) << text;
}

}  // namespace
}  // namespace engine
