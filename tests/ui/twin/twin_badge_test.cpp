#include "twin/twin_badge.h"

#include <QSettings>

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
        return QTest::qWaitFor([&] { return !badge.checking(); }, 60'000);
    }
    QString tone(const TwinBadge& badge) const { return badge.property("tone").toString(); }
    void trainTwin(const QStringList& precisions) {
        settings.load(settings.config(), precisions);
        commands.startTwin({});
        ASSERT_TRUE(ends(2));
        EXPECT_TRUE(QTest::qWaitFor([this] { return model.steps() == 10; }));
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
                       const BitCheckLimits& limits, BitCheckProgress& progress) {
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
                        BitCheckLimits limits, BitCheckProgress& progress) {
                        limits = {.steps = 1'000'000, .seconds = 60};
                        began = true;
                        engine::RunConfig endless = a;
                        endless.max_steps = 0;
                        (void)b;
                        return checkBits(endless, endless, limits, progress);
                    });
    badge.click();
    ASSERT_TRUE(QTest::qWaitFor([&] { return began.load(); }, 10'000));
    badge.click();
    EXPECT_TRUE(QTest::qWaitFor([&] { return !badge.checking(); }, 20'000));
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
                             const BitCheckLimits& limits, BitCheckProgress& progress) {
                        return checkBits(config, config, limits, progress);
                    });
    badge.click();
    ASSERT_TRUE(checked(badge));
    EXPECT_EQ(badge.accessibleName(), u"FP32 beside FP32: not checked"_s);
    EXPECT_EQ(tone(badge), u"caution"_s);
    EXPECT_TRUE(badge.toolTip().contains(u"/nonexistent"_s)) << badge.toolTip().toStdString();
}

}  // namespace
}  // namespace ui
