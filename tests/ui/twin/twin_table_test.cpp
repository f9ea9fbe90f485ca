#include "twin/twin_table.h"

#include <gtest/gtest.h>

#include <limits>

namespace ui {
namespace {

TEST(ErrorCeiling, HoldsTheLargestError) {
    EXPECT_EQ(errorCeiling(0), 1);
    EXPECT_EQ(errorCeiling(0.3), 1);
    EXPECT_EQ(errorCeiling(1), 1);
    EXPECT_EQ(errorCeiling(3), 10);
    EXPECT_EQ(errorCeiling(10), 10);
    EXPECT_EQ(errorCeiling(2700), 1e4);
    EXPECT_EQ(errorCeiling(std::numeric_limits<double>::infinity()), 1);
}

}  // namespace
}  // namespace ui
