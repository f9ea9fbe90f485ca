#include "kernels/quantize.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace kernels {
namespace {

constexpr float f32_largest = std::numeric_limits<float>::max();

TEST(Quantize, ScalesATensorToTheLargestValue) {
    EXPECT_EQ(tensor_scale(3, fp8_e4m3_layout, false), 448.0f / 3.0f);
    EXPECT_EQ(tensor_scale(3, fp8_e4m3_layout, true), 128);
    EXPECT_EQ(tensor_scale(3.5f, fp8_e4m3_layout, true), 128);
    EXPECT_EQ(tensor_scale(0, fp8_e5m2_layout, false), 1);
    EXPECT_EQ(tensor_scale(0x1p-149f, fp8_e5m2_layout, false), f32_largest);
    EXPECT_EQ(tensor_scale(0x1p-149f, fp8_e5m2_layout, true), 0x1p127f);
    EXPECT_EQ(tensor_scale(0x1p127f, fp8_e4m3_layout, false), 0x1.cp-119f);
}

TEST(Quantize, ScalesARowByAPowerOfTwoWithALeastMagnitude) {
    EXPECT_EQ(row_scale(3, fp8_e4m3_layout), 128);
    EXPECT_EQ(row_scale(0, fp8_e4m3_layout), 0x1p48f);  // 448e12 rounded down
    EXPECT_EQ(row_scale(1e-30f, fp8_e4m3_layout), 0x1p48f);
}

TEST(Quantize, RoundsMxScalesByFourRules) {
    const auto code = [](float amax, MxRule rule, FloatLayout layout = fp8_e4m3_layout) {
        return mx_scale_code(amax, layout, rule);
    };
    EXPECT_EQ(code(448, MxRule::rceil), 127u);
    EXPECT_EQ(code(449, MxRule::rceil), 128u);
    EXPECT_EQ(code(500, MxRule::floor), 127u);  // 500 then saturates
    EXPECT_EQ(code(500, MxRule::ceil), 128u);
    EXPECT_EQ(code(479, MxRule::even), 127u);
    EXPECT_EQ(code(496, MxRule::even), 128u);  // a tie of four significant bits: up
    EXPECT_EQ(code(7, MxRule::floor, fp4_e2m1_layout), 127u);
    EXPECT_EQ(code(7, MxRule::rceil, fp4_e2m1_layout), 128u);
    for (const MxRule rule : {MxRule::rceil, MxRule::floor, MxRule::ceil, MxRule::even}) {
        EXPECT_EQ(code(0, rule), 0u);
        EXPECT_EQ(code(0x1p-149f, rule), 0u);
        EXPECT_LT(code(f32_largest, rule), 0xffu);
    }
    EXPECT_EQ(mx_scale(0), 0x1p127f);
    EXPECT_EQ(mx_scale(127), 1);
    EXPECT_EQ(mx_scale(254), 0x1p-127f);
    EXPECT_TRUE(std::isnan(mx_scale(255)));
}

// Whatever the rule rounds up cannot saturate.
TEST(Quantize, NothingSaturatesWithRceil) {
    for (const FloatLayout layout : {fp8_e4m3_layout, fp8_e5m2_layout, fp4_e2m1_layout})
        for (std::uint32_t bits = 0x100000u; bits < 0x7f800000u; bits += 0x10357u) {
            const float amax = std::bit_cast<float>(bits);
            const float scaled = amax * mx_scale(mx_scale_code(amax, layout, MxRule::rceil));
            ASSERT_LE(scaled, largest_value(layout) * (1 + 0x1p-22f)) << amax;
        }
}

TEST(Quantize, ScalesNvfp4InTwoLevels) {
    const Nvfp4Scale scale(6);
    EXPECT_EQ(scale.operand, 448);
    EXPECT_EQ(from_small_float(scale.block_code(6), fp8_e4m3_layout), 448);
    const auto code = scale.block_code(6);
    EXPECT_EQ(to_small_float(6 * scale.encode(code), fp4_e2m1_layout), 7u);
    EXPECT_FLOAT_EQ(nvfp4_value(7, code, 6), 6);  // 6 / 2688 is rounded
    EXPECT_EQ(Nvfp4Scale(0).operand, 1);
    EXPECT_EQ(Nvfp4Scale(0x1p-140f).operand, f32_largest);
}

TEST(Quantize, ZeroesNvfp4BlocksFarBelowTheOperand) {
    const Nvfp4Scale scale(1);
    EXPECT_GT(scale.block_code(0x1p-17f), 0u);
    const auto code = scale.block_code(0x1p-20f);
    EXPECT_EQ(code, 0u);
    EXPECT_EQ(scale.encode(code), f32_largest);
    EXPECT_EQ(nvfp4_value(7, code, 1), 0);
    EXPECT_TRUE(std::isnan(scale.encode(0x7f)));
}

}  // namespace
}  // namespace kernels
