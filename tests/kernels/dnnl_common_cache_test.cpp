#include "cpu/dnnl_common.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace kernels::cpu {
namespace {

TEST(ShapeCache, MakesAnEntryOnceForEachKey) {
    ShapeCache<int> cache;
    int made = 0;
    const auto make = [&] { return ++made; };
    for (int round = 0; round < 2; ++round)
        for (std::int64_t i = 0; i < 3; ++i) {
            EXPECT_EQ(cache.get({{i, 7}}, make), i + 1);
            EXPECT_EQ(cache.get({{i, 7}}, make), i + 1);
        }
    EXPECT_EQ(made, 3);
}

TEST(ShapeCache, NeverHoldsMoreThanItsCapacity) {
    ShapeCache<std::int64_t> cache;
    for (std::int64_t i = 0; i < 2000; ++i) {
        EXPECT_EQ(cache.get({{i}}, [&] { return i; }), i);
        EXPECT_LE(cache.size(), ShapeCache<std::int64_t>::capacity);
    }
}

TEST(ShapeCache, KeepsNothingOfAnEntryThatCouldNotBeMade) {
    ShapeCache<int> cache;
    const auto fail = []() -> int { throw std::runtime_error("no"); };
    EXPECT_THROW(cache.get({{1}}, fail), std::runtime_error);
    EXPECT_EQ(cache.size(), 0u);
    EXPECT_EQ(cache.get({{1}}, [] { return 5; }), 5);
}

}  // namespace
}  // namespace kernels::cpu
