#include "engine/number/number_block.h"

#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "gtest/gtest.h"

namespace engine {
namespace {

NumberBlocks blocks(BlockKind kind, std::vector<double> numbers, double amax = 0,
                    MxScale rule = MxScale::rceil) {
    return quantize_blocks(numbers, {.kind = kind, .mx_scale = rule, .amax = amax});
}

TEST(NumberBlock, CutsNumbersIntoBlocks) {
    for (const BlockKind kind :
         {BlockKind::mxfp8, BlockKind::mxfp4, BlockKind::nvfp4, BlockKind::fp8_128}) {
        const auto result = blocks(kind, std::vector<double>(block_size(kind) + 3, 1.0));
        ASSERT_EQ(result.blocks.size(), 2u);
        EXPECT_EQ(result.blocks[0].elements.size(), block_size(kind));
        EXPECT_EQ(result.blocks[1].elements.size(), 3u);
    }
    EXPECT_TRUE(blocks(BlockKind::mxfp8, {}).blocks.empty());
}

TEST(NumberBlock, RoundsMxfp8WithAPowerOfTwo) {
    const auto block = blocks(BlockKind::mxfp8, {3.1, 0.1, 0}).blocks[0];
    EXPECT_EQ(block.amax, static_cast<double>(3.1f));
    EXPECT_EQ(block.scale_bits, 120u);  // 3.1 / 448 lies between 2^-8 and 2^-7
    EXPECT_EQ(block.scale, 0x1p-7);
    EXPECT_EQ(block.factor, 128);
    EXPECT_EQ(block.elements[0].value, 3.0);
    EXPECT_EQ(block.elements[1].value, 0.1015625);
    EXPECT_EQ(block.elements[1].error, 0.1015625 - 0.1);
    EXPECT_EQ(block.elements[2].bits, 0u);
    EXPECT_FALSE(block.elements[2].zeroed);
}

TEST(NumberBlock, ZeroesNeighboursOfALargeNumber) {
    const auto block = blocks(BlockKind::mxfp4, {0.5, -1, 2, 100}).blocks[0];
    EXPECT_EQ(block.scale, 32);
    EXPECT_TRUE(block.elements[0].zeroed);
    EXPECT_TRUE(block.elements[1].zeroed);
    EXPECT_TRUE(block.elements[2].zeroed);
    EXPECT_EQ(block.elements[3].value, 96);
}

TEST(NumberBlock, SaturatesByTheRuleFloor) {
    const auto floor = blocks(BlockKind::mxfp8, {500}, 0, MxScale::floor).blocks[0];
    EXPECT_TRUE(floor.elements[0].saturated);
    EXPECT_EQ(floor.elements[0].value, 448);
    EXPECT_FALSE(blocks(BlockKind::mxfp8, {500}).blocks[0].elements[0].saturated);
    EXPECT_TRUE(blocks(BlockKind::mxfp8, {500}, 100).blocks[0].elements[0].saturated);
}

TEST(NumberBlock, GivesNvfp4AScaleOfAllBlocks) {
    std::vector<double> numbers(32, 0x1p-22);
    numbers[0] = 6;
    const auto result = blocks(BlockKind::nvfp4, numbers);
    EXPECT_EQ(result.amax, 6);
    EXPECT_EQ(result.scale, 448);
    EXPECT_EQ(result.blocks[0].scale, 448);
    EXPECT_NEAR(result.blocks[0].elements[0].value, 6, 1e-6);
    EXPECT_EQ(result.blocks[1].scale_bits, 0u);
    EXPECT_TRUE(result.blocks[1].elements[0].zeroed);
    EXPECT_EQ(result.blocks[1].elements[0].bits, 0u) << "as training casts such a block";
    EXPECT_FALSE(result.blocks[1].elements[0].saturated);
    EXPECT_EQ(blocks(BlockKind::nvfp4, {1}, 100).amax, 100);
}

TEST(NumberBlock, ScalesFp8BlocksByPowersOfTwoInFp32) {
    const auto block = blocks(BlockKind::fp8_128, {3.5, 1e-9}).blocks[0];
    EXPECT_EQ(block.scale, 128);
    EXPECT_EQ(block.scale_bits, 0x43000000u);
    EXPECT_EQ(block.elements[0].value, 3.5);
    EXPECT_TRUE(block.elements[1].zeroed);
    EXPECT_EQ(blocks(BlockKind::fp8_128, {0}).blocks[0].scale, 1);
}

TEST(NumberBlock, MakesABlockNaNThatHoldsANumberThatIsNotFinite) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    for (const auto& [kind, bits] : {std::pair{BlockKind::mxfp8, 0xffu},
                                     {BlockKind::mxfp4, 0xffu},
                                     {BlockKind::nvfp4, 0x7fu}}) {
        const auto block = blocks(kind, {1, infinite}).blocks[0];
        EXPECT_EQ(block.scale_bits, bits);
        EXPECT_TRUE(std::isnan(block.elements[0].value));
    }
    EXPECT_TRUE(std::isnan(blocks(BlockKind::fp8_128, {1e300, 1}).blocks[0].elements[1].value));
}

TEST(NumberBlock, RefusesALargestMagnitudeThatIsNone) {
    EXPECT_THROW(blocks(BlockKind::nvfp4, {1}, -1), Error);
    EXPECT_THROW(blocks(BlockKind::nvfp4, {1}, std::nan("")), Error);
}

TEST(NumberBlock, RoundsAScaleByThreeRules) {
    const auto codes = scale_codes(3.1);
    EXPECT_EQ(codes.floor, 128u);
    EXPECT_EQ(codes.rceil, 129u);
    EXPECT_EQ(codes.even, 129u);
    EXPECT_EQ(scale_codes(2.9).even, 128u);
}

}  // namespace
}  // namespace engine
