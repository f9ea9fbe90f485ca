#include "engine/instruments/weight_watch.h"

#include <gtest/gtest.h>

namespace engine {
namespace {

TEST(WeightWatch, FindsAStepAmongThoseItHas) {
    WeightWatch watch("fc.weight", {1, 2});
    EXPECT_EQ(watch.size(), 0);
    EXPECT_FALSE(watch.at(1));
    watch.begin("f16");
    // A resumed run begins at a later step.
    for (std::int64_t step : {21, 22, 25})
        watch.append({.step = step, .before = 1.0 * static_cast<double>(step), .after = 0});
    EXPECT_EQ(watch.dtype(), "f16");
    EXPECT_EQ(watch.size(), 3);
    EXPECT_EQ(watch.at(22)->before, 22);
    EXPECT_FALSE(watch.at(23));
    EXPECT_FALSE(watch.at(1));
    EXPECT_FALSE(watch.at(26));
    watch.refuse("no such parameter");
    EXPECT_EQ(watch.problem(), "no such parameter");
}

}  // namespace
}  // namespace engine
