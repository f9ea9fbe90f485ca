#include "train/step/run_context.h"

#include <gtest/gtest.h>

#include "kernels/measured_choice.h"

namespace engine {
namespace {

kernels::PlanChoice choice_in(bool deterministic) {
    const kernels::test::PlanRaces races;
    RunConfig config;
    config.threads = 1;
    config.deterministic = deterministic;
    RunContext context(config, Device{});
    const RunContext::Entry inside(context);
    return kernels::plan_choice();
}

TEST(RunContext, MeasuresTheLibrariesAlgorithms) {
    const kernels::PlanChoice outside;
    EXPECT_FALSE(outside.measured);
    EXPECT_EQ(choice_in(true), (kernels::PlanChoice{.measured = true, .bit_stable = true}));
    EXPECT_EQ(kernels::plan_choice(), outside) << "only for the run";
}

TEST(RunContext, TakesThoseThatAreNotBitStableWhereTheSettingsAllowIt) {
    EXPECT_EQ(choice_in(false), (kernels::PlanChoice{.measured = true, .bit_stable = false}));
}

}  // namespace
}  // namespace engine
