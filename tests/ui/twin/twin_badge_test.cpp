#include "twin/twin_badge.h"

#include <gtest/gtest.h>

#include <QSettings>
#include <thread>

#include "twin/twin_model.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct TwinBadgeTest : WindowFixture {
    TwinBadgeTest() {
        QSettings().clear();
        engine::RunConfig config;
        config.dataset.kind = "spirals";
        config.model.kind = "mlp";
        config.batch_size = 32;
        config.max_steps = 10;
        settings.load(engine::completed(config), {u"fp32"_s, u"amp-bf16"_s});
    }
    ~TwinBadgeTest() override { QSettings().clear(); }

    bool checked(const TwinBadge& badge) {
        return QTest::qWaitFor([&] { return !badge.checking(); }, 300'000);
    }
    QString tone(const TwinBadge& badge) const { return badge.property("tone").toString(); }
    void trainTwin(const QStringList& precisions) {
        settings.load(settings.config(), precisions);
        commands.startTwin({});
        ASSERT_TRUE(ends(2));
        EXPECT_TRUE(QTest::qWaitFor([this] { return model.steps() == 10; }, 300'000));
    }

    TwinModel model{context};
};

TEST_F(TwinBadgeTest, AClickChecksAndARepeatedOneChecksAgain) {
    TwinBadge badge(context, &model);
    EXPECT_EQ(badge.accessibleName(), u"Check FP32 beside FP32"_s);
    EXPECT_EQ(tone(badge), QString());
    for (int i = 0; i < 2; ++i) {
        badge.click();
        EXPECT_TRUE(badge.checking());
        EXPECT_TRUE(badge.accessibleName().startsWith(u"checking step"_s));
        ASSERT_TRUE(checked(badge));
        EXPECT_EQ(badge.accessibleName(), u"✓ FP32 beside FP32: bit-identical, 10 steps"_s);
        EXPECT_EQ(tone(badge), u"good"_s);
    }
}

/// The second half computes in 16 bits, and the badge does not know that.
TEST_F(TwinBadgeTest, AFailedCheckIsRedAndNamesTensorAndStep) {
    TwinBadge badge(context, &model, nullptr,
                    [](const engine::RunConfig& a, engine::RunConfig b,
                       const BitCheckLimits& limits, BitCheckTask::Link& progress) {
                        b.precision.preset = "amp-bf16";
                        return checkBits(a, engine::completed(b), limits, progress);
                    });
    badge.click();
    ASSERT_TRUE(checked(badge));
    EXPECT_EQ(badge.accessibleName(), u"✗ FP32 beside FP32: the loss differs in step 1"_s);
    EXPECT_EQ(tone(badge), u"bad"_s);
}

TEST_F(TwinBadgeTest, OtherSettingsTakeTheAnswerAway) {
    TwinBadge badge(context, &model);
    badge.click();
    ASSERT_TRUE(checked(badge));
    ASSERT_EQ(tone(badge), u"good"_s);
    settings.load(settings.config(), {u"amp-bf16"_s, u"fp32"_s});
    EXPECT_EQ(badge.accessibleName(), u"Check AMP BF16 beside AMP BF16"_s);
    EXPECT_EQ(tone(badge), QString());
}

TEST_F(TwinBadgeTest, AClickEndsACheckThatRuns) {
    std::atomic<bool> began = false;
    TwinBadge badge(context, &model, nullptr,
                    [&](const engine::RunConfig& a, const engine::RunConfig& b,
                        BitCheckLimits limits, BitCheckTask::Link& progress) {
                        limits = {.steps = 1'000'000, .seconds = 60};
                        began = true;
                        engine::RunConfig endless = a;
                        endless.max_steps = 0;
                        (void)b;
                        return checkBits(endless, endless, limits, progress);
                    });
    badge.click();
    ASSERT_TRUE(QTest::qWaitFor([&] { return began.load(); }, 300'000));
    badge.click();
    EXPECT_TRUE(QTest::qWaitFor([&] { return !badge.checking(); }, 300'000));
}

TEST_F(TwinBadgeTest, ATwinOfOnePrecisionIsItsOwnCheck) {
    trainTwin({u"fp32"_s, u"fp32"_s});
    ASSERT_TRUE(model.any());
    TwinBadge badge(context, &model);
    EXPECT_EQ(badge.accessibleName(), u"✓ FP32 beside FP32: bit-identical, 10 steps"_s);
    EXPECT_EQ(tone(badge), u"good"_s);
}

TEST_F(TwinBadgeTest, ATwinOfTwoPrecisionsIsNone) {
    trainTwin({u"fp32"_s, u"amp-bf16"_s});
    ASSERT_TRUE(model.any());
    EXPECT_FALSE(model.digest().identical());
    TwinBadge badge(context, &model);
    EXPECT_EQ(badge.accessibleName(), u"Check FP32 beside FP32"_s);
}

TEST_F(TwinBadgeTest, SaysWhenItCannotCheck) {
    engine::RunConfig config = settings.config();
    config.dataset.kind = "mnist";
    config.dataset.path = {"/nonexistent"};
    TwinBadge badge(context, &model, nullptr,
                    [config](const engine::RunConfig&, const engine::RunConfig&,
                             const BitCheckLimits& limits, BitCheckTask::Link& progress) {
                        return checkBits(config, config, limits, progress);
                    });
    badge.click();
    ASSERT_TRUE(checked(badge));
    EXPECT_EQ(badge.accessibleName(), u"FP32 beside FP32: not checked"_s);
    EXPECT_EQ(tone(badge), u"caution"_s);
    EXPECT_TRUE(badge.toolTip().contains(u"/nonexistent"_s)) << badge.toolTip().toStdString();
}

// With real training: equal runs are reported as equal, and a difference is named.
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
        BitCheckTask::Link progress;
        const BitCheck found =
            checkBits(spirals(precision), spirals(precision), {.steps = 12}, progress);
        EXPECT_TRUE(found.identical())
            << precision << ": " << found.tensor.toStdString() << found.problem.toStdString();
        EXPECT_EQ(found.steps, 12);
        EXPECT_EQ(progress.progress(), 12);
    }
}

/// Skipped steps have no gradients to compare and still count as equal.
TEST(BitCheck, SkippedStepsAreNoDifference) {
    engine::RunConfig config = spirals("amp-fp16");
    config.scaler.init_scale = 0x1p40;
    config = engine::completed(config);
    BitCheckTask::Link progress;
    const BitCheck found = checkBits(config, config, {.steps = 5}, progress);
    EXPECT_TRUE(found.identical()) << found.tensor.toStdString();
    EXPECT_EQ(found.steps, 5);
}

TEST(BitCheck, NamesTheFirstTensorThatDiffersAndItsStep) {
    BitCheckTask::Link progress;
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
    BitCheckTask::Link progress;
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
    BitCheckTask::Link progress;
    const BitCheck found = checkBits(config, config, {.steps = 3}, progress);
    EXPECT_FALSE(found.identical());
    EXPECT_FALSE(found.problem.isEmpty());
    EXPECT_EQ(found.steps, 0);
}

TEST(BitCheck, EndsWhenItIsToldToOrItsTimeIsOver) {
    BitCheckTask::Link progress, ended;
    ended.stop();
    const BitCheck stopped =
        checkBits(spirals("fp32"), spirals("fp32"), {.steps = 1'000'000}, ended);
    EXPECT_LT(stopped.steps, 1'000'000);
    const BitCheck timed =
        checkBits(spirals("fp32"), spirals("fp32"), {.steps = 1'000'000, .seconds = 0.5}, progress);
    EXPECT_LT(timed.steps, 1'000'000);
    EXPECT_TRUE(timed.identical()) << timed.problem.toStdString();
}

}  // namespace
}  // namespace ui
