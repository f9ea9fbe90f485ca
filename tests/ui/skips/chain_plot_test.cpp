#include "skips/chain_plot.h"

#include <gtest/gtest.h>

#include <limits>

namespace ui {
namespace {

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
    EXPECT_EQ(chainBar(chainLinkOf("f16", 60'000), false), ChainBar::run);
    EXPECT_EQ(chainBar(chainLinkOf("f16", std::numeric_limits<double>::infinity()), false),
              ChainBar::not_finite);
    EXPECT_EQ(chainBar(chainLinkOf("f32", std::numeric_limits<double>::quiet_NaN()), false),
              ChainBar::not_finite);
    // The values as computed in FP32 are all of one type.
    EXPECT_EQ(chainBar(chainLinkOf("f32", 127'000), true), ChainBar::run);
}

}  // namespace
}  // namespace ui
