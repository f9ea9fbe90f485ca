#include <gtest/gtest.h>

#include "engine/instruments/speedup.h"

namespace engine {
namespace {

/// A measurement whose median speed-up is that of the parts, and whose pairs differ by 1 %.
Speedup measured(const StepParts& fp32, const StepParts& amp, double f16_peak = 2e11) {
    Speedup out;
    out.model = "mlp";
    out.precision = "amp-fp16";
    out.fp32 = fp32;
    out.amp = amp;
    out.fp32_ms = fp32.total();
    out.amp_ms = amp.total();
    out.speed_up = out.fp32_ms / out.amp_ms;
    out.least = 0.99 * out.speed_up;
    out.most = 1.01 * out.speed_up;
    out.peaks = {{"f32", 1e11}, {"f16", f16_peak}};
    explain(out);
    return out;
}

TEST(SpeedupReason, ProductsThatAreFaster) {
    const Speedup p = measured({.products = 8, .memory = 2}, {.products = 4, .memory = 2});
    EXPECT_TRUE(p.pays());
    EXPECT_EQ(p.reason, PayReason::products);
    EXPECT_EQ(p.sentence.str(),
              "amp-fp16 trains 1.67 times as fast as FP32: matrix products and convolutions are 80 "
              "% of the FP32 step and take 4 ms instead of 8 ms.");
}

TEST(SpeedupReason, HalfTheBytesWhereProductsGainLess) {
    const Speedup p = measured({.products = 4, .memory = 6}, {.products = 4, .memory = 3});
    EXPECT_TRUE(p.pays());
    EXPECT_EQ(p.reason, PayReason::traffic);
}

TEST(SpeedupReason, ADeviceWithoutSixteenBitArithmetic) {
    const Speedup p =
        measured({.products = 8, .memory = 2}, {.products = 8, .memory = 2}, /*f16_peak=*/1e11);
    EXPECT_FALSE(p.pays());
    EXPECT_EQ(p.reason, PayReason::no_arithmetic);
    EXPECT_EQ(
        p.sentence.str(),
        "amp-fp16 does not pay off (1 times FP32's speed): this device multiplies FP16 no faster "
        "than FP32. A large product reaches 100 GFLOP/s in FP16 and 100 in FP32.");
}

TEST(SpeedupReason, TheFixedCostOfShortOperationsComesFirst) {
    const Speedup p = measured({.products = 4, .brief = 4}, {.products = 4, .brief = 4}, 1e11);
    EXPECT_EQ(p.reason, PayReason::launch_bound);
}

TEST(SpeedupReason, CastsThatTakeWhatProductsSave) {
    const Speedup p = measured({.products = 8, .memory = 2},
                              {.products = 4, .memory = 2, .casts = 5, .cast_bytes = 2'500'000});
    EXPECT_EQ(p.reason, PayReason::casts);
    EXPECT_NE(p.sentence.str().find("casts are 45 % of its step and move 2.50 MB"),
              std::string::npos)
        << p.sentence.str();
}

TEST(SpeedupReason, AStepThatIsMostlyMemoryOrMostlyUpdate) {
    EXPECT_EQ(measured({.products = 1, .memory = 9}, {.products = 1, .memory = 9}).reason,
              PayReason::memory_bound);
    EXPECT_EQ(measured({.products = 1, .update = 9}, {.products = 1, .update = 9}).reason,
              PayReason::update);
}

TEST(SpeedupReason, ProductsTooSmallForTheDevice) {
    Speedup p = measured({.products = 8, .memory = 2}, {.products = 8, .memory = 2});
    EXPECT_EQ(p.reason, PayReason::small_products);
    p.amp.product_flops = 8e-3 * 2e11 / 4;
    explain(p);
    EXPECT_NE(p.sentence.str().find("reach 25 % of the speed of a large one in FP16"),
              std::string::npos)
        << p.sentence.str();
}

TEST(SpeedupReason, ASpeedUpThatSomePairContradictsDoesNotPay) {
    Speedup p = measured({.products = 8, .memory = 2}, {.products = 4, .memory = 2});
    p.least = 0.98;
    explain(p);
    EXPECT_FALSE(p.pays());
    EXPECT_EQ(p.reason, PayReason::undecided);
}

}  // namespace
}  // namespace engine
