#include "engine/record/exponent_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "engine/base/error.h"
#include "histogram_support.h"
#include "kernels/dtype.h"

namespace engine {
namespace {

using test::histogram_of;

/// Values of many magnitudes; none is a power of two.
std::vector<float> spread_values(std::size_t count, float mean_exponent, unsigned seed) {
    std::mt19937 engine(seed);
    std::normal_distribution<float> exponent(mean_exponent, 5), sign(0, 1);
    std::vector<float> out;
    while (out.size() < count) {
        const float value = std::exp2(exponent(engine)) * (sign(engine) < 0 ? -1.0f : 1.0f);
        int ignored = 0;
        if (std::fabs(std::frexp(value, &ignored)) != 0.5f) out.push_back(value);
    }
    return out;
}

/// Counts the results of converting each value times a scale to FP16.
struct Brute {
    double zero = 0, subnormal = 0, overflow = 0;

    Brute(const std::vector<float>& values, float scale) {
        for (const float value : values) {
            if (value == 0) continue;
            const float half = std::fabs(to_float(kernels::to_half(value * scale)));
            zero += half == 0 ? 1 : 0;
            // Compared before rounding, as the limit of `subnormal` is.
            subnormal += half != 0 && std::fabs(value * scale) < 0x1p-14f ? 1 : 0;
            overflow += std::isfinite(half) ? 0 : 1;
        }
    }
};

TEST(ExponentHistogram, KnowsTheLimitsOfFp16AndBf16AsTheConversionsHaveThem) {
    const auto half = [](double value) {
        return static_cast<double>(to_float(kernels::to_half(static_cast<float>(value))));
    };
    EXPECT_EQ(half(fp16_format.largest), fp16_format.largest);
    EXPECT_TRUE(std::isinf(half(fp16_format.overflow)));
    EXPECT_FALSE(std::isinf(half(std::nextafter(65520.0f, 0.0f))));
    EXPECT_EQ(half(fp16_format.smallest), fp16_format.smallest);
    EXPECT_EQ(half(std::ldexp(1.0, fp16_format.last_flushed_exponent)), 0);
    EXPECT_NE(half(std::ldexp(1.0 + 0x1p-20, fp16_format.last_flushed_exponent)), 0);
    const auto brain = [](double value) {
        return static_cast<double>(to_float(kernels::to_bfloat16(static_cast<float>(value))));
    };
    EXPECT_EQ(brain(bf16_format.largest), bf16_format.largest);
    EXPECT_TRUE(std::isinf(brain(bf16_format.overflow)));
    EXPECT_EQ(brain(bf16_format.smallest), bf16_format.smallest);
    EXPECT_EQ(brain(std::ldexp(1.0, bf16_format.last_flushed_exponent)), 0);
}

/// Every finite value of an eight-bit format, smallest first, computed from its fields.
std::vector<double> eight_bit_values(int fraction_bits, int bias, int patterns) {
    std::vector<double> out;
    for (int bits = 1; bits < patterns; ++bits) {
        const int exponent = bits >> fraction_bits, fraction = bits & ((1 << fraction_bits) - 1);
        const double whole = exponent == 0 ? fraction : fraction + (1 << fraction_bits);
        out.push_back(std::ldexp(whole, std::max(exponent, 1) - bias - fraction_bits));
    }
    return out;
}

TEST(ExponentHistogram, KnowsTheLimitsOfFp8FromTheFieldsOfItsBytes) {
    const auto e4m3 = eight_bit_values(3, 7, 0x7f);   // 0x7f is NaN
    const auto e5m2 = eight_bit_values(2, 15, 0x7c);  // 0x7c is infinity
    EXPECT_EQ(fp8_e4m3_format.largest, e4m3.back());
    EXPECT_EQ(fp8_e5m2_format.largest, e5m2.back());
    EXPECT_EQ(fp8_e4m3_format.smallest, e4m3.front());
    EXPECT_EQ(fp8_e5m2_format.smallest, e5m2.front());
    EXPECT_EQ(fp8_e4m3_format.smallest_normal, e4m3[7]);
    EXPECT_EQ(fp8_e5m2_format.smallest_normal, e5m2[3]);
    for (const NumberFormat* format : {&fp8_e4m3_format, &fp8_e5m2_format})
        EXPECT_EQ(std::ldexp(1.0, format->last_flushed_exponent), format->smallest / 2);
    // Halfway to the next pattern: E4M3's 448 has an even pattern and wins the tie, E5M2's 57,344
    // has an odd one.
    EXPECT_EQ(fp8_e4m3_format.overflow, std::nextafter((448 + 480) / 2.0, 1000.0));
    EXPECT_EQ(fp8_e5m2_format.overflow, (57344 + 65536) / 2.0);
}

TEST(ExponentHistogram, SaysWhatFp16MakesOfRealValuesAtEveryPowerOfTwo) {
    for (const float mean : {-30.0f, -12.0f, 4.0f}) {
        const auto values = spread_values(50'000, mean, 3);
        const ExponentHistogram histogram = histogram_of(values);
        for (int exponent = -10; exponent <= 20; ++exponent) {
            const float scale = std::exp2(static_cast<float>(exponent));
            const Brute expected(values, scale);
            const FormatOutcome actual =
                outcome(histogram, fp16_format, static_cast<double>(scale));
            EXPECT_EQ(actual.zero, expected.zero) << exponent;
            EXPECT_EQ(actual.subnormal, expected.subnormal) << exponent;
            EXPECT_EQ(actual.overflows, expected.overflow > 0) << exponent;
            // 65,520 splits a bin, so the count is an estimate: off by 2^-11 of the bin and a few
            // values. In the open bin it only shows whether there are any values.
            if (exponent < -1) continue;
            EXPECT_NEAR(actual.overflow, expected.overflow, 8 + expected.overflow / 1000)
                << exponent;
        }
    }
}

TEST(ExponentHistogram, SplitsABinEvenlyOverItsLogarithmAtOtherScales) {
    const auto values = spread_values(200'000, -24, 5);
    const ExponentHistogram histogram = histogram_of(values);
    for (const float scale : {1.5f, 3.0f, 1000.0f, 0.7f}) {
        const Brute expected(values, scale);
        const FormatOutcome actual = outcome(histogram, fp16_format, static_cast<double>(scale));
        // A bin has at most about 16,000 values, whose density varies by a tenth within it.
        EXPECT_NEAR(actual.zero, expected.zero, 400) << scale;
        EXPECT_NEAR(actual.subnormal, expected.subnormal, 800) << scale;
    }
    // Four values in [2, 4): log2(2 sqrt 2) is the middle of the bin.
    ExponentHistogram four;
    four.bins[1 - ExponentHistogram::first_exponent] = 4;
    const double half = fp16_format.smallest_normal / (2 * std::sqrt(2.0));
    EXPECT_NEAR(outcome(four, fp16_format, half).subnormal, 2, 1e-9);
}

TEST(ExponentHistogram, FindsTheSmallestScaleThatKeepsAThousandth) {
    const auto kept = [](const std::vector<float>& values, double scale) {
        return std::count_if(values.begin(), values.end(), [&](float value) {
            return std::fabs(static_cast<double>(value)) * scale > 0x1p-25;
        });
    };
    for (const float mean : {-30.0f, -24.0f, -10.0f, 0.0f}) {
        const auto values = spread_values(30'000, mean, 7);
        const double scale = smallest_scale(histogram_of(values), fp16_format);
        ASSERT_TRUE(scale > 0);
        EXPECT_GE(kept(values, scale), 29'970);
        EXPECT_LT(kept(values, scale / 2), 29'970);
    }
}

TEST(ExponentHistogram, MeasuresHeadroomToTheLargestAndTheSmallestValues) {
    const ExponentHistogram histogram = histogram_of({1.0f, -8.0f, 0x1.8p-20f, 0.0f});
    EXPECT_EQ(largest_scale(histogram, fp16_format), 65504.0 / 8);
    EXPECT_NEAR(headroom_up(histogram, fp16_format, 1024), std::log2(8188.0 / 1024), 1e-12);
    EXPECT_EQ(smallest_scale(histogram, fp16_format), 0x1p-5);  // -20 - 5 is -25
    EXPECT_EQ(headroom_down(histogram, fp16_format, 1024), 15);
    EXPECT_EQ(largest_exponent(histogram), 3);
    EXPECT_EQ(smallest_exponent(histogram), -20);
}

TEST(ExponentHistogram, CountsWhatIsExactlyAtTheLimitAsKept) {
    EXPECT_EQ(outcome(histogram_of({0x1p-25f, 1.0f}), fp16_format, 1).zero, 0);
    EXPECT_EQ(outcome(histogram_of({0x1.8p-26f, 1.0f}), fp16_format, 1).zero, 1);
}

TEST(ExponentHistogram, GivesNoFiguresOfWhatIsNotKnown) {
    const float inf = std::numeric_limits<float>::infinity();
    const auto nan = std::numeric_limits<float>::quiet_NaN();
    for (const auto& values : std::vector<std::vector<float>>{{}, {0}, {1, inf}, {1, nan}}) {
        const ExponentHistogram histogram = histogram_of(values);
        EXPECT_TRUE(std::isnan(smallest_scale(histogram, fp16_format)));
        EXPECT_TRUE(std::isnan(largest_scale(histogram, fp16_format)));
        EXPECT_TRUE(std::isnan(headroom_up(histogram, fp16_format, 2)));
        EXPECT_TRUE(std::isnan(headroom_down(histogram, fp16_format, 2)));
    }
    const FormatOutcome broken = outcome(histogram_of({1, inf, nan, 0}), fp16_format, 1);
    EXPECT_EQ(broken.nonzero, 3);
    EXPECT_EQ(broken.overflow, 2);
    EXPECT_TRUE(broken.overflows);
    EXPECT_EQ(outcome({}, fp16_format, 1).share(0), 0);
    // Half of the values are below the bins, so the scale that would keep them is unknown.
    EXPECT_TRUE(std::isnan(smallest_scale(histogram_of({1, 0x1p-60f}), fp16_format)));
    for (const double scale : {0.0, -1.0, static_cast<double>(inf), static_cast<double>(nan)})
        EXPECT_THROW((void)outcome({}, fp16_format, scale), Error);
}

TEST(ExponentHistogram, TakesTheOpenBinsByTheirExtremes) {
    const ExponentHistogram huge = histogram_of({0x1p100f, 1.0f});
    EXPECT_EQ(outcome(huge, bf16_format, 1).overflow, 0);
    EXPECT_EQ(outcome(huge, bf16_format, 0x1p30).overflow, 1);
    EXPECT_EQ(outcome(huge, fp16_format, 0x1p-90).overflow, 0);
    const ExponentHistogram tiny = histogram_of({0x1p-60f, 1.0f});
    EXPECT_EQ(outcome(tiny, bf16_format, 1).zero, 0);
    EXPECT_EQ(outcome(tiny, fp16_format, 1).zero, 1);
    EXPECT_EQ(largest_exponent(huge), 100);
    EXPECT_EQ(smallest_exponent(tiny), -60);
    ExponentHistogram unknown;
    unknown.bins.back() = 1;
    EXPECT_EQ(largest_exponent(unknown), std::nullopt);
}

TEST(ExponentHistogram, AddsUpToTheHistogramOfAllValues) {
    const auto a = spread_values(1000, -20, 1), b = spread_values(500, 10, 2);
    std::vector<float> both = a;
    both.insert(both.end(), b.begin(), b.end());
    ExponentHistogram sum = histogram_of(a);
    sum += histogram_of(b);
    EXPECT_EQ(sum, histogram_of(both));
    ExponentHistogram zeros = histogram_of({0, 0});
    zeros += histogram_of(a);
    EXPECT_EQ(zeros.smallest, histogram_of(a).smallest);
    EXPECT_EQ(zeros.total(), 1002);
    EXPECT_EQ(zeros.finite_nonzero(), 1000);
}

TEST(ExponentHistogram, IsHeldAgainstTheFormatsOf16BitsAndLess) {
    for (const NumberFormat* format : histogram_formats()) EXPECT_LE(format->width(), 16);
    EXPECT_EQ(histogram_formats().size(), 4u);
}

}  // namespace
}  // namespace engine
