#include "feed/run_hues.h"

#include <gtest/gtest.h>

#include "theme/tokens.h"

namespace ui {
namespace {

using Hues = std::vector<RunHue>;

TEST(RunHues, AreThoseOfThePrecisionsAndADashForTheSecondRun) {
    EXPECT_EQ(runHues({"fp32", "amp-fp16"}), (Hues{{-1, false}, {-1, false}}));
    EXPECT_EQ(runHues({"fp32", "fp32", "amp-fp16"}), (Hues{{-1, false}, {-1, true}, {-1, false}}));
    EXPECT_TRUE(runHues({}).empty());
}

TEST(RunHues, AreOtherOnesWhereTheRunsDoNotDifferInPrecision) {
    EXPECT_EQ(runHues({"amp-fp16", "amp-fp16", "amp-fp16", "fp32"}),
              (Hues{{0, false}, {1, false}, {2, false}, {3, false}}));
    const Hues many = runHues(std::vector<std::string>(10, "fp32"));
    for (std::size_t i = 0; i < many.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) EXPECT_NE(many[i], many[j]) << i << " " << j;
    for (const RunHue& hue : many)
        EXPECT_LT(static_cast<std::size_t>(hue.own), lightTokens().own.size());
}

}  // namespace
}  // namespace ui
