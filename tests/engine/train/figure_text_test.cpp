#include "train/figure_text.h"

#include <gtest/gtest.h>

#include <cmath>

namespace engine {
namespace {

TEST(FigureText, WritesThreeSignificantDigitsWithoutAnExponentWhereAReaderCanDoWithout) {
    EXPECT_EQ(figure_text(0.0005), "0.000500");
    EXPECT_EQ(figure_text(3.17e-6), "0.00000317");
    EXPECT_EQ(figure_text(2.5e-7), "2.50e-07");
    EXPECT_EQ(figure_text(9.999), "10.0");
    EXPECT_EQ(figure_text(13214), "13,200");
    EXPECT_EQ(figure_text(-1234567), "-1,230,000");
    EXPECT_EQ(figure_text(0), "0");
    EXPECT_EQ(figure_text(INFINITY), "∞");
    EXPECT_EQ(figure_text(NAN), "NaN");
}

TEST(FigureText, LeavesOutZerosAtTheEndWhereAsked) {
    EXPECT_EQ(short_figure_text(2), "2");
    EXPECT_EQ(short_figure_text(0.5), "0.5");
    EXPECT_EQ(short_figure_text(1.125), "1.12");
    EXPECT_EQ(short_figure_text(1000), "1,000");
}

}  // namespace
}  // namespace engine
