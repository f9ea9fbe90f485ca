#include "tensor/memory/host_heap.h"

#include <gtest/gtest.h>

#include <vector>

namespace engine {
namespace {

using Range = FreeRanges::Range;

/// Ranges of made-up memory; nothing is read or written.
class FreeRangesTest : public testing::Test {
protected:
    char* at(std::size_t offset) { return memory_.data() + offset; }
    void add(std::size_t offset, std::size_t bytes) { ranges_.add({at(offset), bytes}); }
    std::vector<Range> all() const {
        std::vector<Range> out;
        for (const auto& [data, bytes] : ranges_.all()) out.push_back({data, bytes});
        return out;
    }

    std::vector<char> memory_ = std::vector<char>(1000);
    FreeRanges ranges_;
};

TEST_F(FreeRangesTest, NeighboursBecomeOne) {
    add(0, 10);
    add(20, 10);
    EXPECT_EQ(all().size(), 2u);
    add(10, 10);
    EXPECT_EQ(all(), (std::vector<Range>{{at(0), 30}}));
    add(30, 5);
    EXPECT_EQ(all(), (std::vector<Range>{{at(0), 35}}));
    add(40, 5);
    EXPECT_EQ(all().size(), 2u);
}

TEST_F(FreeRangesTest, TheSmallestThatSufficesIsChosenAndTheLowestOfThose) {
    add(0, 50);
    add(100, 20);
    add(200, 20);
    add(300, 10);
    EXPECT_EQ(ranges_.smallest(15), (Range{at(100), 20}));
    EXPECT_EQ(ranges_.smallest(20), (Range{at(100), 20}));
    EXPECT_EQ(ranges_.smallest(21), (Range{at(0), 50}));
    EXPECT_EQ(ranges_.smallest(51), std::nullopt);
}

TEST_F(FreeRangesTest, WhatIsTakenLeavesTheRest) {
    add(0, 50);
    ranges_.take(at(0), 20);
    EXPECT_EQ(all(), (std::vector<Range>{{at(20), 30}}));
    EXPECT_EQ(ranges_.smallest(1), (Range{at(20), 30}));
    ranges_.take(at(20), 30);
    EXPECT_TRUE(all().empty());
    EXPECT_EQ(ranges_.smallest(1), std::nullopt);
}

TEST_F(FreeRangesTest, AreFoundByEitherEnd) {
    add(10, 10);
    add(30, 10);
    EXPECT_EQ(ranges_.starting_at(at(30)), (Range{at(30), 10}));
    EXPECT_EQ(ranges_.starting_at(at(20)), std::nullopt);
    EXPECT_EQ(ranges_.ending_at(at(20)), (Range{at(10), 10}));
    EXPECT_EQ(ranges_.ending_at(at(40)), (Range{at(30), 10}));
    EXPECT_EQ(ranges_.ending_at(at(30)), std::nullopt);
    EXPECT_EQ(ranges_.ending_at(at(0)), std::nullopt);
}

TEST_F(FreeRangesTest, ClearForgetsThem) {
    add(10, 10);
    ranges_.clear();
    EXPECT_TRUE(all().empty());
    EXPECT_EQ(ranges_.smallest(1), std::nullopt);
}

}  // namespace
}  // namespace engine
