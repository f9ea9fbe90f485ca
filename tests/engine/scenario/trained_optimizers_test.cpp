#include <gtest/gtest.h>

#include "support/device_support.h"
#include "engine/catalog.h"

namespace engine::test {
namespace {

/// Loss of the first and of the last ten of 150 steps.
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

RunConfig run_of(const OptimizerInfo& optimizer, const std::string& precision) {
    RunConfig config = small_run("mlp", precision);
    config.batch_size = 64;
    config.optimizer = optimizer.defaults;
    // For so short a run.
    if (optimizer.kind.starts_with("adam")) config.optimizer.lr = 0.02;
    config.scaler.growth_interval = 2000;
    return config;
}

TEST(TrainerOptimizers, EveryOneLowersTheLossInEveryPrecisionWithMastersOrWithout) {
    for (const auto& optimizer : optimizers())
        for (const char* precision : {"fp32", "amp-fp16", "o2-fp16"}) {
            const auto [first, last] = losses(run_of(optimizer, precision));
            EXPECT_LT(last, 0.95 * first) << optimizer.kind << " " << precision;
        }
}

TEST(TrainerOptimizers, X13LarcRunsAtEveryLevel) {
    for (const auto& optimizer : optimizers())
        for (const char* precision : {"fp32", "amp-fp16", "o2-fp16", "pure-fp16"}) {
            RunConfig config = run_of(optimizer, precision);
            config.optimizer.larc = true;
            config.optimizer.larc_trust = 0.1;
            const auto [first, last] = losses(config);
            EXPECT_LT(last, 0.97 * first) << optimizer.kind << " " << precision;
        }
}

TEST(TrainerOptimizers, O2SkipsAndHalvesTheScaleWhereGradientsOverflow) {
    RunConfig config = small_run("mlp", "o2-fp16");
    config.scaler.init_scale = 0x1p30;
    TrainerFixture fixture(config, default_device());
    const FinishedStep first = fixture.step(0);
    EXPECT_TRUE(first.row.found_inf);
    EXPECT_EQ(first.next_loss_scale, 0x1p29);
    for (int i = 1; i < 30; ++i) fixture.step(i);
    EXPECT_GT(fixture.trainer.updates(), 5);
    for (const auto& parameter : fixture.trainer.model().parameters())
        EXPECT_EQ(parameter.tensor.dtype(), DType::f16) << parameter.name;
}

}  // namespace
}  // namespace engine::test
