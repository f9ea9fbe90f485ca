// With real training: equal runs are reported as equal, and a difference is named.
#include "twin/bit_check.h"

#include <gtest/gtest.h>

#include <thread>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

engine::RunConfig spirals(const std::string& precision) {
    engine::RunConfig config;
    config.dataset.kind = "spirals";
    config.model.kind = "mlp";
    config.precision.preset = precision;
    config.batch_size = 32;
    return engine::completed(config);
}

TEST(BitCheck, APrecisionBesideItselfHasTheSameBits) {
    for (const char* precision : {"fp32", "amp-fp16", "amp-bf16"}) {
        BitCheckProgress progress;
        const BitCheck found =
            checkBits(spirals(precision), spirals(precision), {.steps = 12}, progress);
        EXPECT_TRUE(found.identical())
            << precision << ": " << found.tensor.toStdString() << found.problem.toStdString();
        EXPECT_EQ(found.steps, 12);
        EXPECT_EQ(progress.step, 12);
    }
}

/// Skipped steps have no gradients to compare and still count as equal.
TEST(BitCheck, SkippedStepsAreNoDifference) {
    engine::RunConfig config = spirals("amp-fp16");
    config.scaler.init_scale = 0x1p40;
    config = engine::completed(config);
    BitCheckProgress progress;
    const BitCheck found = checkBits(config, config, {.steps = 5}, progress);
    EXPECT_TRUE(found.identical()) << found.tensor.toStdString();
    EXPECT_EQ(found.steps, 5);
}

TEST(BitCheck, NamesTheFirstTensorThatDiffersAndItsStep) {
    BitCheckProgress progress;
    const BitCheck found = checkBits(spirals("fp32"), spirals("amp-bf16"), {.steps = 8}, progress);
    EXPECT_FALSE(found.identical());
    EXPECT_EQ(found.step, 1);
    EXPECT_EQ(found.tensor, u"the loss"_s);
    // The first step is equal, since its loss is computed before the update.
    engine::RunConfig other = spirals("fp32");
    other.optimizer.options["lr"] = 0.123;
    const BitCheck later =
        checkBits(spirals("fp32"), engine::completed(other), {.steps = 8}, progress);
    EXPECT_EQ(later.step, 2);
    EXPECT_EQ(later.tensor, u"the loss"_s);
}

/// Without a scale the forward pass is equal, and small gradients are flushed to zero.
TEST(BitCheck, NamesALayerWhoseGradientAloneDiffers) {
    engine::RunConfig scaled = spirals("amp-fp16"), plain = scaled;
    scaled.scaler.init_scale = 0x1p12;
    plain.scaler.init_scale = 0x1p-12;
    BitCheckProgress progress;
    const BitCheck found =
        checkBits(engine::completed(scaled), engine::completed(plain), {.steps = 3}, progress);
    EXPECT_FALSE(found.identical());
    EXPECT_EQ(found.step, 1);
    EXPECT_TRUE(found.tensor.startsWith(u"the gradient of "_s)) << found.tensor.toStdString();
}

TEST(BitCheck, SaysWhyNothingWasCompared) {
    engine::RunConfig config = spirals("fp32");
    config.dataset.kind = "mnist";
    config.dataset.path = {"/nonexistent"};
    BitCheckProgress progress;
    const BitCheck found = checkBits(config, config, {.steps = 3}, progress);
    EXPECT_FALSE(found.identical());
    EXPECT_FALSE(found.problem.isEmpty());
    EXPECT_EQ(found.steps, 0);
}

TEST(BitCheck, EndsWhenItIsToldToOrItsTimeIsOver) {
    BitCheckProgress progress;
    progress.stop = true;
    const BitCheck stopped =
        checkBits(spirals("fp32"), spirals("fp32"), {.steps = 1'000'000}, progress);
    EXPECT_LT(stopped.steps, 1'000'000);
    progress.stop = false;
    const BitCheck timed =
        checkBits(spirals("fp32"), spirals("fp32"), {.steps = 1'000'000, .seconds = 0.5}, progress);
    EXPECT_LT(timed.steps, 1'000'000);
    EXPECT_TRUE(timed.identical()) << timed.problem.toStdString();
}

}  // namespace
}  // namespace ui
