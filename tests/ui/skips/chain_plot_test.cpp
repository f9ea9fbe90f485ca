#include "skips/chain_plot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

engine::ChainLink chainLinkOf(const char* type, double largest) {
    engine::ChainLink out;
    out.dtype = type;
    out.largest = largest;
    return out;
}

/// C20: in a benign skip the last layer's output is held in FP32, so it may stand above the limit of
/// FP16. It must not look like a value of the run's 16-bit type.
TEST(ChainBar, AboveTheLimitOfATypeThatItDoesNotHaveSaysItsOwn) {
    EXPECT_EQ(chainBar(chainLinkOf("f32", 127'000), false), ChainBar::above);
    EXPECT_EQ(chainBar(chainLinkOf("f32", 1000), false), ChainBar::fp32);
    EXPECT_EQ(chainBar(chainLinkOf("f16", 300'000), false), ChainBar::run);
    EXPECT_EQ(chainBar(chainLinkOf("f16", std::numeric_limits<double>::infinity()), false),
              ChainBar::not_finite);
    EXPECT_EQ(chainBar(chainLinkOf("f32", std::numeric_limits<double>::quiet_NaN()), false),
              ChainBar::not_finite);
    // The values as computed in FP32 are all of one type.
    EXPECT_EQ(chainBar(chainLinkOf("f32", 127'000), true), ChainBar::run);
}

/// A forward pass has no gradients of weights. A NaN was drawn as if the layer had no values.
TEST(ChainBar, ANanIsNotNothing) {
    engine::ChainLink link = chainLinkOf("f16", std::numeric_limits<double>::quiet_NaN());
    link.largest_in_f32 = 3.04e12;
    link.weights_in_f32 = 0;
    EXPECT_EQ(chainBar(link, false), ChainBar::not_finite);
    EXPECT_TRUE(std::isnan(chainValue(link, false)));
    EXPECT_EQ(chainValue(link, true), 3.04e12);
}

TEST(ChainText, SaysNothingOfGradientsThatAForwardPassDoesNotHave) {
    engine::ChainLink link = chainLinkOf("f16", 48'500);
    link.largest_in_f32 = 48'600;
    EXPECT_EQ(chainText(link), u"(the model): largest 48,500, in FP32 48,600"_s);
    link.module = "fc1";
    link.weights = 2;
    link.weights_in_f32 = 3;
    EXPECT_EQ(chainText(link),
              u"fc1: largest 48,500, in FP32 48,600; of its parameters' gradients 2.00, in FP32 "
              "3.00"_s);
}

}  // namespace
}  // namespace ui
