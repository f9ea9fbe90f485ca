#include "text/event_text.h"

#include <gtest/gtest.h>

#include <limits>

#include "text/language.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;
using engine::ScaleChanged;

const float nanLoss = std::numeric_limits<float>::quiet_NaN();

ScaleChanged skip(ScaleChanged::Kind kind) {
    return {.run = "1", .step = 412, .kind = kind, .from = 65536, .to = 32768, .clean_steps = 7};
}

TEST(EventText, SaysWhatASkipDidToTheScale) {
    const EventText text = describeEvent(skip(ScaleChanged::Kind::skipped_normal), {});
    EXPECT_EQ(text.what, u"Skipped: a gradient overflowed. Scale 2¹⁶ → 2¹⁵."_s);
    EXPECT_EQ(text.step, 412);
    EXPECT_EQ(text.kind, EventKind::skipped);
}

TEST(EventText, TellsCalibratingNormalAndPersistentApart) {
    const auto meaning = [](ScaleChanged::Kind kind) {
        return describeEvent(skip(kind), {}).meaning;
    };
    EXPECT_TRUE(meaning(ScaleChanged::Kind::skipped_calibrating).startsWith(u"Calibrating"_s));
    EXPECT_TRUE(meaning(ScaleChanged::Kind::skipped_normal).startsWith(u"Normal"_s));
    EXPECT_TRUE(meaning(ScaleChanged::Kind::skipped_persistent).startsWith(u"Persistent"_s));
}

TEST(EventText, SaysHowFarAScaleThatIsFarTooLargeHasToFall) {
    ScaleChanged event = skip(ScaleChanged::Kind::skipped_calibrating);
    event.clean_steps = 0;
    event.from = 0x1p40f;
    event.to = 0x1p39f;
    EXPECT_EQ(describeEvent(event, {}).meaning,
              u"Calibrating: the scale was still too large. "
              u"About 23 more skips would lower it to 2¹⁶, the default."_s);
    EXPECT_EQ(describeSkips(event, event).meaning, describeEvent(event, {}).meaning);
    event.from = 0x1p18f;
    event.to = 0x1p17f;
    EXPECT_TRUE(describeEvent(event, {}).meaning.endsWith(
        u"One more skip would lower it to 2¹⁶, the default."_s));
}

TEST(EventText, BlamesTheForwardPassOnlyForALossThatIsNotFinite) {
    ScaleChanged event = skip(ScaleChanged::Kind::skipped_persistent);
    event.from = 2;
    event.to = 1;
    EXPECT_EQ(describeEvent(event, {}).meaning,
              u"Persistent: the gradients are not finite even at scale 2¹, so "
              u"look for a NaN in the backward pass."_s);
    event.loss = nanLoss;
    EXPECT_EQ(describeEvent(event, {}).meaning,
              u"Persistent: lowering the scale cannot fix a NaN in the forward pass."_s);
}

TEST(EventText, CountsTheCleanStepsBeforeAGrowth) {
    const EventText text = describeEvent(ScaleChanged{.run = "1",
                                                      .step = 100,
                                                      .kind = ScaleChanged::Kind::grown,
                                                      .from = 65536,
                                                      .to = 131072,
                                                      .clean_steps = 100},
                                         {});
    EXPECT_EQ(text.what, u"100 clean steps: scale 2¹⁶ → 2¹⁷."_s);
}

TEST(EventText, LeavesOutChangesOfState) {
    EXPECT_TRUE(
        describeEvent(engine::StateChanged{"1", engine::RunState::training}, {}).what.isEmpty());
}

TEST(EventText, DoesNotCallALossThatIsNaNAGradientOverflow) {
    ScaleChanged event = skip(ScaleChanged::Kind::skipped_persistent);
    event.loss = nanLoss;
    EXPECT_EQ(describeEvent(event, {}).what, u"Skipped: the loss is NaN. Scale 2¹⁶ → 2¹⁵."_s);
    event.loss = std::numeric_limits<float>::infinity();
    EXPECT_TRUE(describeEvent(event, {}).what.startsWith(u"Skipped: the loss is ∞."_s));
}

TEST(EventText, SaysHowARunEndedAndFromWhereItsLossWasNaN) {
    engine::RunConfig config;
    config.epochs = 2;
    engine::RunDone done{};
    done.reason = engine::DoneReason::epochs;
    EXPECT_EQ(doneText(done, config), u"Finished 2 epochs."_s);
    done.diverged_at = 23;
    EXPECT_EQ(doneText(done, config), u"Diverged: the loss is NaN or infinite from step 23 on."_s);
}

TEST(EventText, ATestLossThatIsNaNIsToldAsWellAsOneThatWasMeasured) {
    engine::EpochDone epoch{};
    epoch.test.metrics = {{"accuracy", 0.05}};
    EXPECT_TRUE(describeEvent(epoch, {}).meaning.contains(u"test loss NaN"_s));
    epoch.test = {};
    EXPECT_FALSE(describeEvent(epoch, {}).meaning.contains(u"test loss"_s)) << "no test set";
}

TEST(EventText, ShortTimesAreInMilliseconds) {
    engine::CheckpointSaved saved{};
    saved.bytes = 369'000;
    saved.seconds = 0.0844;
    EXPECT_EQ(describeEvent(saved, {}).meaning, u"369 KB, written in 84.4 ms."_s);
}

TEST(EventText, TellsTheMetricsOfTheTask) {
    engine::EpochDone epoch{};
    epoch.epoch = 3;
    epoch.epoch_ended = true;
    epoch.train.loss = 0.5;
    epoch.validation.loss = 0.25;
    epoch.test = {0.4, {{"rmse", 59600}, {"r2", 0.729}}};
    const EventText text = describeEvent(epoch, {});
    EXPECT_EQ(text.what, u"Epoch 3 done. Test RMSE 59,600."_s);
    EXPECT_TRUE(text.meaning.contains(u"validation loss 0.250"_s)) << text.meaning.toStdString();
    epoch.seconds = 63.1;
    EXPECT_TRUE(describeEvent(epoch, {}).meaning.endsWith(u", took 63.1 s."_s));
    engine::RunDone done{};
    done.test = epoch.test;
    EXPECT_TRUE(describeEvent(done, {}).meaning.contains(u"test RMSE 59,600, test R² 0.729"_s));
    // A stored event lists them by name; the primary one of the task still comes first.
    epoch.test = {0.4, {{"r2", 0.729}, {"rmse", 59600}}};
    const std::vector<engine::Metric> metrics = {{.key = "rmse", .title = "RMSE"},
                                                 {.key = "r2", .title = "R²"}};
    EXPECT_EQ(describeEvent(epoch, {}, metrics).what, text.what);
    done.test = epoch.test;
    EXPECT_TRUE(
        describeEvent(done, {}, metrics).meaning.contains(u"test RMSE 59,600, test R² 0.729"_s));
    epoch.test = {2, {{"perplexity", 7.5}}};
    EXPECT_EQ(describeEvent(epoch, {}).what, u"Epoch 3 done. Test perplexity 7.50."_s);
}

TEST(StepReason, CallsASkipWithAFiniteLossBenign) {
    engine::StepRecord row{};
    row.loss = 0.3f;
    row.loss_scale = 131072;
    row.found_inf = 1;
    const auto event = skip(ScaleChanged::Kind::skipped_normal);
    const StepReason why = explainStep(row, &event, 65536, true);
    EXPECT_EQ(why.tone, StepReason::Tone::good);
    EXPECT_TRUE(why.body.contains(u"2¹⁶"_s));
}

TEST(StepReason, SaysHowFarTheScaleHasToFallAndWhenItIsNotTheScale) {
    engine::StepRecord row{};
    row.loss = 0.3f;
    row.loss_scale = 0x1p40f;
    row.found_inf = 1;
    ScaleChanged event = skip(ScaleChanged::Kind::skipped_calibrating);
    event.clean_steps = 0;
    event.from = 0x1p40f;
    event.to = 0x1p39f;
    EXPECT_TRUE(explainStep(row, &event, 0x1p39, true)
                    .body.endsWith(u"About 23 more skips would lower it to 2¹⁶, the default."_s));
    row.loss_scale = event.from = 2;
    event.to = 1;
    event.kind = ScaleChanged::Kind::skipped_persistent;
    const StepReason why = explainStep(row, &event, 1, true);
    EXPECT_EQ(why.tone, StepReason::Tone::bad);
    EXPECT_TRUE(why.body.contains(u"not finite even at scale 2¹."_s)) << why.body.toStdString();
}

TEST(StepReason, BlamesTheForwardPassForANaNLoss) {
    engine::StepRecord row{};
    row.loss = nanLoss;
    row.loss_scale = 65536;
    row.found_inf = 1;
    EXPECT_EQ(explainStep(row, nullptr, 32768, true).tone, StepReason::Tone::bad);
    row.found_inf = 0;  // without a scaler nothing prevented the update
    EXPECT_EQ(explainStep(row, nullptr, 1, false).tone, StepReason::Tone::bad);
}

/// A static scale of 2²⁴ in step 1: the loss is a number, the gradients are not.
TEST(StepReason, DoesNotCallAnOverflowAppliedWhereTheScaleIsStatic) {
    engine::StepRecord row{};
    row.loss = 2.3f;
    row.loss_scale = 0x1p24f;
    row.grad_norm = nanLoss;
    row.f16_overflow_share = 1;
    engine::RunConfig config;
    config.precision.preset = "amp-fp16";
    config.precision.scaler = engine::ScalerMode::constant;
    const StepReason why = explainStep(row, nullptr, 0x1p24, true, true, &config);
    EXPECT_EQ(why.tone, StepReason::Tone::bad);
    EXPECT_FALSE(why.body.contains(u"All gradients were finite"_s)) << why.body.toStdString();
    EXPECT_TRUE(why.body.contains(u"Lower the static scale"_s)) << why.body.toStdString();
    config.precision.preset = "fp32";
    config.precision.scaler.reset();
    EXPECT_EQ(explainStep(row, nullptr, 1, false, false, &config).tone, StepReason::Tone::bad);
    EXPECT_EQ(explainStep(row, nullptr, 1, false, false).tone, StepReason::Tone::neutral)
        << "a program that does not measure the norm";
    row.grad_norm = 1;
    EXPECT_EQ(explainStep(row, nullptr, 1, false, false, &config).headline, u"Applied."_s);
}

TEST(StepReason, PointsAtLostUpdates) {
    engine::StepRecord row{};
    row.loss = 1;
    row.lost_update_share = 0.6f;
    EXPECT_EQ(explainStep(row, nullptr, 1, false).tone, StepReason::Tone::caution);
}

TEST(EngineText, FillsArgumentsInOrder) {
    EXPECT_EQ(engineText(engine::msg("{} of {}", 1, 2)), u"1 of 2"_s);
    EXPECT_EQ(engineText(engine::msg("plain")), u"plain"_s);
    engine::Message short_of_one("a {} b {}");
    short_of_one.args = {"x"};
    EXPECT_EQ(engineText(short_of_one), u"a x b {}"_s);
}

TEST(EngineText, FillsNumberedArgumentsWhereATranslationTurnsThem) {
    engine::Message turned("{1} of {0}");
    turned.args = {"a", "b"};
    EXPECT_EQ(engineText(turned), u"b of a"_s);
}

}  // namespace
}  // namespace ui
