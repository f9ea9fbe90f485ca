#include <gtest/gtest.h>

#include "engine/settings/catalog.h"
#include "support/device_support.h"

namespace engine::test {
namespace {

/// The mean losses of the first and of the last ten of 150 steps.
std::pair<double, double> losses(const RunConfig& config) {
    TrainerFixture fixture(config, default_device());
    double first = 0, last = 0;
    for (int i = 0; i < 150; ++i) {
        const double loss = fixture.step(i).row.loss;
        if (i < 10) first += loss / 10;
        if (i >= 140) last += loss / 10;
    }
    return {first, last};
}

/// The last loss as a share of the first. Takes the better of two rates: the optimizer's default,
/// and twenty times that, since the run is so short.
double remaining_loss(const OptimizerDescriptor& optimizer, const std::string& precision,
                      const Options& more = {}) {
    const double usual = std::get<double>(find_option(optimizer.options, "lr")->default_value);
    double lowest = 1;
    for (const double faster : {1.0, 20.0}) {
        RunConfig config = small_run("mlp", precision);
        config.batch_size = 64;
        config.optimizer = {.kind = optimizer.kind, .options = more};
        config.optimizer.options["lr"] = usual * faster;
        config.scaler.growth_interval = 2000;
        const auto [first, last] = losses(config);
        lowest = std::min(lowest, last / first);
    }
    return lowest;
}

TEST(TrainerOptimizers, EveryOneLowersTheLossInEveryPrecisionWithMastersOrWithout) {
    for (const auto& optimizer : optimizers())
        for (const char* precision : {"fp32", "amp-fp16", "o2-fp16"})
            EXPECT_LT(remaining_loss(optimizer, precision), 0.95)
                << optimizer.kind << " " << precision;
}

TEST(TrainerOptimizers, X13LarcRunsAtEveryLevel) {
    for (const auto& optimizer : optimizers())
        for (const char* precision : {"fp32", "amp-fp16", "o2-fp16", "pure-fp16"}) {
            const double rest =
                remaining_loss(optimizer, precision, {{"larc", true}, {"larc_trust", 0.1}});
            EXPECT_LT(rest, 0.97) << optimizer.kind << " " << precision;
        }
}

TEST(TrainerOptimizers, O2SkipsAndHalvesTheScaleWhereGradientsOverflow) {
    RunConfig config = small_run("mlp", "o2-fp16");
    config.scaler.init_scale = 0x1p30;
    TrainerFixture fixture(config, default_device());
    const CompletedStep first = fixture.step(0);
    EXPECT_TRUE(first.row.found_inf);
    EXPECT_EQ(first.next_loss_scale, 0x1p29);
    for (int i = 1; i < 30; ++i) fixture.step(i);
    EXPECT_GT(fixture.trainer.updates(), 5);
    for (const auto& parameter : fixture.trainer.model().parameters())
        EXPECT_EQ(parameter.tensor.dtype(), DType::f16) << parameter.name;
}

}  // namespace
}  // namespace engine::test
