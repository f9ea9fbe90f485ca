#include "microscope/scale_answer.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ui {
namespace {

using namespace Qt::StringLiterals;
using engine::ExponentHistogram;
using engine::HistogramKind;

constexpr double scale = 0x1p18;

/// A thousand values in the bin of `exponent` and one of `largest`, as counted.
engine::LayerHistogram layer(const char* name, int exponent, double largest) {
    engine::LayerHistogram out;
    out.layer = name;
    const auto bin = [](int e) {
        return static_cast<std::size_t>(e - ExponentHistogram::first_exponent);
    };
    out.values.bins[bin(exponent)] += 1000;
    out.values.bins[bin(std::min(std::ilogb(largest), ExponentHistogram::last_exponent))] += 1;
    out.values.largest = largest;
    out.values.smallest = std::exp2(exponent);
    return out;
}

QString answer(const std::vector<engine::LayerHistogram>& layers, double now = scale,
               bool scaled = true, HistogramKind kind = HistogramKind::gradients) {
    engine::HistogramSample sample;
    sample.loss_scale = scale;
    sample.layers = layers;
    for (auto& each : sample.layers) each.kind = kind;
    return scaleAnswer({sample, kind, kind == HistogramKind::gradients ? scale : 1, now, scaled});
}

TEST(ScaleAnswer, NamesTheRangeTheScaleNowAndTheLayerThatOverflowsFirst) {
    // 65,504 ÷ 26,600 = 2^1.3; values of 2^-15 stay above 2^-25 down to a tenth power of two less.
    const QString text = answer({layer("fc1", -15, 100), layer("fc3", -10, 26'600)});
    EXPECT_TRUE(text.endsWith(u"to 2¹⁹; now 2¹⁸, 1.3 bits below overflow in fc3."_s))
        << text.toStdString();
    EXPECT_TRUE(text.startsWith(u"Fits from 2"_s)) << text.toStdString();
}

TEST(ScaleAnswer, AScaleThatTheRunNoLongerHasIsThatOfItsStep) {
    engine::HistogramSample sample;
    sample.step = 1050;
    sample.loss_scale = scale;
    sample.layers = {layer("fc3", -10, 26'600)};
    sample.layers.front().kind = HistogramKind::gradients;
    const auto text = [&](double own) {
        return scaleAnswer({.sample = sample,
                            .kind = HistogramKind::gradients,
                            .counted = scale,
                            .scale = own,
                            .scaled = true,
                            .earlier = true});
    };
    EXPECT_TRUE(text(scale).endsWith(u"; step 1,050 had 2¹⁸, 1.3 bits below overflow in fc3."_s))
        << text(scale).toStdString();
    for (const double own : {scale, 0x1p21, 0x1p-4})
        EXPECT_FALSE(text(own).contains(u"now"_s)) << text(own).toStdString();
}

TEST(ScaleAnswer, SaysThatTheScaleIsTooHighOrTooLow) {
    const QString high = answer({layer("fc3", -10, 26'600)}, 0x1p21);
    EXPECT_TRUE(high.contains(u"too high: fc3 overflows"_s)) << high.toStdString();
    const QString low = answer({layer("fc3", -10, 26'600)}, 0x1p-4);
    EXPECT_TRUE(low.contains(u"small gradients become zero"_s)) << low.toStdString();
    const QString none = answer({layer("fc3", -40, 26'600)});
    EXPECT_TRUE(none.startsWith(u"No scale fits"_s)) << none.toStdString();
}

TEST(ScaleAnswer, ClaimsNoLimitThatAnOverflowOrRoundingHid) {
    auto hidden = layer("fc3", -10, 26'600);
    hidden.values.infinite = 2;
    const QString overflow = answer({layer("fc1", -15, 100), hidden});
    EXPECT_TRUE(overflow.contains(u"of fc3 are not finite"_s)) << overflow.toStdString();
    EXPECT_FALSE(overflow.contains(u"Fits"_s));
    auto flushed = layer("fc3", -10, 26'600);
    flushed.flushed = true;
    const QString rounded = answer({flushed});
    EXPECT_TRUE(rounded.startsWith(u"Fits up to 2¹⁹"_s)) << rounded.toStdString();
}

TEST(ScaleAnswer, AnswersWithoutALossScaleAndForOtherValues) {
    EXPECT_TRUE(answer({layer("fc3", -10, 26'600)}, 1, false).startsWith(u"In FP16 a loss scale"_s));
    EXPECT_EQ(answer({layer("conv1", -2, 16'376)}, 1, false, HistogramKind::activations),
              u"FP16 holds them: 2.0 bits below overflow in conv1; none become zero."_s);
    EXPECT_TRUE(answer({layer("conv1", -2, 100'000)}, 1, false, HistogramKind::activations)
                    .contains(u"conv1 overflows by 0.6 bits"_s));
    EXPECT_EQ(answer({}), QString());
}

}  // namespace
}  // namespace ui
