#include "engine/number/number_arithmetic.h"

#include <cmath>
#include <random>

#include "engine/base/error.h"
#include "gtest/gtest.h"

namespace engine {
namespace {

TEST(NumberArithmetic, RoundsASumAndAProductOnce) {
    EXPECT_EQ(add(fp16_format, 65504, 15), 65504);
    EXPECT_TRUE(std::isinf(add(fp16_format, 65504, 16)));
    EXPECT_EQ(add(fp16_format, 2048, 1), 2048);
    EXPECT_EQ(add(fp16_format, 2048, 3), 2052);
    EXPECT_TRUE(std::isnan(add(fp8_e4m3_format, 448, 32)));
    EXPECT_EQ(add(fp8_e4m3_format, 448, 16), 448);
    EXPECT_EQ(multiply(fp16_format, 0x1p-24, 0.5), 0);
    EXPECT_EQ(multiply(fp16_format, 3 * 0x1p-24, 0.5), 0x1p-23);  // a tie: 2 is even
    EXPECT_EQ(multiply(bf16_format, 0.1, 10), 1);
    EXPECT_TRUE(std::isnan(add(fp16_format, INFINITY, -INFINITY)));
}

TEST(NumberArithmetic, RoundsOperandsThatADoubleCannotAddExactly) {
    // 2^100 + 1 needs 101 bits. The 1 decides a tie that the first 53 bits leave open.
    const double tie = 0x1.000001p100;  // half way between two FP32 numbers
    EXPECT_EQ(add(fp32_format, tie, 1), 0x1p100) << "rounded to FP32 first, so the tie is gone";
    EXPECT_EQ(add(fp32_format, 0x1p24, 1), 0x1p24);  // a tie, to even
    EXPECT_EQ(add(fp32_format, 0x1.000002p24, 0x1.000002p0), 0x1.000004p24);
    EXPECT_EQ(add(fp32_format, -0x1p24, -1 - 0x1p-23), -0x1.000002p24);
    EXPECT_EQ(add(bf16_format, 0x1p100, 0x1p-100), 0x1p100);
}

TEST(NumberArithmetic, AddsFp32AsTheProcessorDoes) {
    std::mt19937 random(3);
    for (int i = 0; i < 200'000; ++i) {
        const auto draw = [&] {
            return std::ldexp(static_cast<float>(random()), static_cast<int>(random() % 60) - 60) *
                   (random() % 2 == 0 ? 1.0f : -1.0f);
        };
        const float a = draw(), b = draw();
        ASSERT_EQ(add(fp32_format, a, b), static_cast<double>(a + b)) << a << ' ' << b;
        ASSERT_EQ(multiply(fp32_format, a, b), static_cast<double>(a * b)) << a << ' ' << b;
    }
}

SumResult sum_of(const NumberFormat& format, double term, std::int64_t terms,
                 const NumberFormat* accumulator = nullptr, int points = 0) {
    return sum({.term = term,
                .terms = terms,
                .format = &format,
                .accumulator = accumulator,
                .points = points});
}

TEST(NumberArithmetic, StallsWhereATermIsLessThanHalfAGap) {
    const SumResult half = sum_of(fp16_format, 0.001, 10'000);
    EXPECT_EQ(half.sum, 4);
    EXPECT_EQ(half.stalls_after, 3070);
    EXPECT_EQ(sum_of(bf16_format, 0.001, 10'000).sum, 0.5);
    EXPECT_EQ(sum_of(fp8_e4m3_format, 0.001, 10'000).stalls_after, 16);
    EXPECT_EQ(sum_of(fp8_e5m2_format, 0.001, 10'000).sum, 0.0078125);
    EXPECT_EQ(sum_of(fp16_format, 1, 2048).sum, 2048);
    EXPECT_FALSE(sum_of(fp16_format, 1, 2048).stalls_after);
    EXPECT_EQ(sum_of(fp16_format, 1, 2049).stalls_after, 2048);
}

TEST(NumberArithmetic, AddsInTheAccumulatorsType) {
    const SumResult wide = sum_of(fp16_format, 0.001, 10'000, &fp32_format);
    float expected = 0;
    const auto term = static_cast<float>(rounded(fp16_format, 0.001));
    for (int i = 0; i < 10'000; ++i) expected += term;
    EXPECT_EQ(wide.sum, static_cast<double>(expected));
    EXPECT_FALSE(wide.stalls_after);
    EXPECT_EQ(sum_of(fp8_e4m3_format, 0.001, 10'000, &fp32_format).sum, 19.53125);
}

TEST(NumberArithmetic, HasNoTf32Accumulator) {
    EXPECT_EQ(fixed_accumulator(tf32_format), &fp32_format);
    EXPECT_EQ(fixed_accumulator(fp16_format), nullptr);
    EXPECT_EQ(sum_of(tf32_format, 0.001, 100).sum,
              sum_of(tf32_format, 0.001, 100, &fp32_format).sum);
    EXPECT_THROW((void)sum_of(fp16_format, 1, 1, &tf32_format), Error);
    EXPECT_THROW((void)sum_of(fp16_format, 1, -1), Error);
    EXPECT_THROW((void)sum_of(fp16_format, 1, SumSettings::max_terms + 1), Error);
}

TEST(NumberArithmetic, EndsAsSoonAsNothingCanChange) {
    EXPECT_FALSE(sum_of(fp16_format, 0, SumSettings::max_terms).stalls_after);
    EXPECT_EQ(sum_of(fp16_format, 65504, SumSettings::max_terms).stalls_after, 2);
    EXPECT_TRUE(std::isnan(sum_of(fp8_e4m3_format, NAN, 5).sum));
    EXPECT_EQ(sum_of(fp16_format, 0x1p-25, 5).sum, 0);  // rounds to 0 before it is added
}

TEST(NumberArithmetic, DrawsTheCurveOfASum) {
    const SumResult result = sum_of(fp16_format, 0.001, 10'000, nullptr, 100);
    ASSERT_GE(result.curve.size(), 3u);
    EXPECT_EQ(result.curve.front().terms, 0);
    EXPECT_EQ(result.curve.front().sum, 0);
    EXPECT_EQ(result.curve.back().terms, 10'000);
    EXPECT_EQ(result.curve.back().sum, 4);
    EXPECT_EQ(result.curve[result.curve.size() - 2].terms, 3070);
    for (std::size_t i = 1; i < result.curve.size(); ++i)
        EXPECT_GT(result.curve[i].terms, result.curve[i - 1].terms);
    EXPECT_EQ(sum_of(fp16_format, 1, 0, nullptr, 10).curve.size(), 1u);
    EXPECT_TRUE(sum_of(fp16_format, 1, 10).curve.empty());
}

}  // namespace
}  // namespace engine
