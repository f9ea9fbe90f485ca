#include "engine/train/bench.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "kernels/measured_choice.h"
#include "simt/libraries.h"

namespace engine {
namespace {

TEST(Bench, BeginsToTimeAfterTheAlgorithmsAreChosen) {
    const kernels::test::MeasuredChoice measured;
    kernels::simt::configure({.algorithm_ms = {1, 0}});
    RunConfig config;
    config.dataset.kind = "glyphs";
    config.model.kind = "mlp";
    config.device = "cuda";
    config.batch_size = 2;
    config.threads = 1;
    std::vector<std::int64_t> races;
    BenchOptions options;
    options.steps = 1;
    options.blocks = 2;
    options.warm_up = 0;
    options.goes_on = [&] {
        races.push_back(kernels::plan_races());
        return true;
    };
    const std::int64_t before = kernels::plan_races();
    run_bench(config, options);
    kernels::simt::configure(kernels::simt::LibrarySettings{});
    ASSERT_EQ(races.size(), 2u);
    EXPECT_GT(races[0], before) << "the products of a step are raced";
    EXPECT_EQ(kernels::plan_races(), races[0]) << "a race was timed";
}

}  // namespace
}  // namespace engine
