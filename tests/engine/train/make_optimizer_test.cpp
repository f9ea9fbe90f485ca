#include "train/make_optimizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "golden_file.h"
#include "optim/sgd.h"

// Compares learning rates with PyTorch's schedulers, from the file that
// tests/peer/schedule_golden.py writes.

namespace engine {
namespace {

using nlohmann::json;

/// The settings that correspond to a variant of the script.
RunConfig config_of(const json& variant) {
    std::vector<std::string> overrides = {"optimizer.lr=" + variant.at("lr").dump()};
    for (const auto& [name, value] : variant.items()) {
        if (name == "name" || name == "lr" || name == "planned") continue;
        overrides.push_back("schedule." + name + "=" + value.dump());
    }
    const ParsedConfig parsed = parse_run_config("{}", overrides);
    for (const auto& error : parsed.errors) ADD_FAILURE() << error.str();
    return parsed.config;
}

kernels::LearningRateSchedule schedule_of_variant(const json& variant) {
    return schedule_of(config_of(variant), variant.at("planned").get<std::int64_t>());
}

/// PyTorch multiplies from one rate to the next, with at most 6 roundings per step. 1 + cos(x) has
/// an absolute error of two roundings of 1, in PyTorch and here.
double slack(double base, double rate, std::size_t steps) {
    return rate * 6 * static_cast<double>(steps + 1) * 0x1p-53 + base * 4 * 0x1p-53;
}

TEST(ScheduleOf, FollowsPyTorchsSchedulersSteppedOnAppliedUpdates) {
    const GoldenFile golden("schedules.safetensors");
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

// The same on the device, where a skipped step does not change the count of updates.
TEST(ScheduleOf, IsFollowedByAnOptimizerThatSkipsSteps) {
    const GoldenFile golden("schedules.safetensors");
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

TEST(ScheduleOf, StaysAtItsEndAfterThePlannedUpdates) {
    const GoldenFile golden("schedules.safetensors");
    for (const json& variant : golden.setting("variants")) {
        if (variant.at("kind") == "step") continue;
        const auto schedule = schedule_of_variant(variant);
        const auto planned = variant.at("planned").get<std::int64_t>();
        EXPECT_EQ(learning_rate(schedule, planned), learning_rate(schedule, planned + 1000))
            << variant;
    }
}

TEST(ScheduleOf, OneCycleTakesTheOptimizersRateAsTheLargestUnlessItHasItsOwn) {
    const json cycle = {{"kind", "one-cycle"}, {"lr", 0.25}};
    EXPECT_EQ(schedule_of(config_of(cycle), 10).base, 0.25);
    const json own = {{"kind", "one-cycle"}, {"lr", 0.25}, {"max_lr", 0.5}};
    EXPECT_EQ(schedule_of(config_of(own), 10).base, 0.5);
}

TEST(ScheduleOf, AWarmUpThatIsLongerThanTheRunRisesToItsEnd) {
    const json variant = {{"kind", "cosine"}, {"lr", 0.5}, {"warmup_steps", 7}};
    const auto schedule = schedule_of(config_of(variant), 4);
    for (std::int64_t update = 0; update < 7; ++update)
        EXPECT_EQ(learning_rate(schedule, update), 0.5 * static_cast<double>(update + 1) / 8);
    EXPECT_EQ(learning_rate(schedule, 7), 0.5);
}

}  // namespace
}  // namespace engine
