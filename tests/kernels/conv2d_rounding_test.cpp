#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/conv2d.h"
#include "kernels/conv2d_problem.h"
#include "kernels/device_array.h"
#include "kernels/support.h"

// The bits of a convolution's sums: one rounding, infinities and NaNs.
namespace kernels::test::conv {
namespace {

/// A 1 x 1 convolution of one pixel, which is the product of a row and a matrix, with 1 or 64
/// output channels.
double pixel(DType dtype, const std::vector<double>& x, const std::vector<double>& w,
             std::int64_t k) {
    const auto c = static_cast<std::int64_t>(x.size());
    std::vector<double> repeated;
    for (std::int64_t i = 0; i < k; ++i) repeated.insert(repeated.end(), w.begin(), w.end());
    Buffer y(dtype, k);
    cpu::conv2d_forward(y, Buffer(dtype, x), Buffer(dtype, repeated), {nullptr, dtype, 0},
                        {.n = 1, .c = c, .h = 1, .w = 1, .k = k, .r = 1, .s = 1}, {});
    for (std::int64_t i = 1; i < k; ++i) EXPECT_EQ(y.get(i), y.get(0));
    return y.get(0);
}

TEST(Conv2d, RoundsOnceFromFloatSums) {
    for (const std::int64_t k : {1, 64}) {
        EXPECT_EQ(pixel(DType::bf16, {256, 1, 1, 1}, {1, 1, 1, 1}, k), 260);
        EXPECT_EQ(pixel(DType::bf16, {1, 3 * 0x1p-8}, {1, 1}, k), 1.015625);
        EXPECT_EQ(pixel(DType::f16, {2048, 1}, {1, 1}, k), 2048);
        EXPECT_EQ(pixel(DType::f16, {2048, 3}, {1, 1}, k), 2052);
        EXPECT_EQ(pixel(DType::f16, {300}, {300}, k), inf);
        EXPECT_EQ(pixel(DType::f16, {300, -300}, {300, 299}, k), 300);
        EXPECT_EQ(pixel(DType::f16, {65519}, {1}, k), 65504);
        EXPECT_EQ(pixel(DType::f16, {0x1p-24}, {1}, k), 0x1p-24);
    }
}

TEST(Conv2d, RoundsAWeightGradientOnceFromFloatSums) {
    // 257 ones: a bf16 sum would stop at 256.
    for (const std::int64_t channels : {1, 64}) {
        const Conv2dShape shape{
            .n = 1, .c = channels, .h = 1, .w = 260, .k = channels, .r = 1, .s = 1};
        const std::vector<double> ones(static_cast<std::size_t>(input_size(shape)), 1.0);
        const Buffer x(DType::bf16, ones);
        Buffer dw(DType::bf16, weight_size(shape)), dbias(DType::bf16, channels);
        cpu::conv2d_weight_gradient(dw, dbias, x, x, shape, {});
        for (const double value : dw.values()) ASSERT_EQ(value, 260);
        for (const double value : dbias.values()) ASSERT_EQ(value, 260);
    }
}

TEST(Conv2d, PassesInfinitiesAndNaNsToTheWindowsThatHoldThem) {
    for (const DType dtype : floating)
        for (const std::int64_t channels : {2, 32}) {
            const Conv2dShape shape{.n = 1,
                                    .c = channels,
                                    .h = 8,
                                    .w = 8,
                                    .k = channels,
                                    .r = 3,
                                    .s = 3,
                                    .pad_h = 1,
                                    .pad_w = 1};
            Buffer x(dtype, std::vector<double>(static_cast<std::size_t>(input_size(shape)), 1.0));
            const Buffer w(dtype,
                           std::vector<double>(static_cast<std::size_t>(weight_size(shape)), 1.0));
            x.set((1 * 8 + 1) * channels, std::nan(""));
            x.set((6 * 8 + 6) * channels, inf);
            Buffer y(dtype, output_size(shape));
            cpu::conv2d_forward(y, x, w, {nullptr, dtype, 0}, shape, {});
            for (std::int64_t i = 0; i < y.size(); ++i) {
                const std::int64_t h = i / channels / 8, v = i / channels % 8;
                const double value = y.get(i);
                if (h <= 2 && v <= 2)
                    ASSERT_TRUE(std::isnan(value)) << i;
                else if (h >= 5 && v >= 5)
                    ASSERT_EQ(value, inf) << i;
                else
                    ASSERT_TRUE(std::isfinite(value)) << i;
            }
        }
}

TEST(CudaConv2d, RoundsSixteenBitSumsAndBiasOnce) {
    HALFTONE_NEEDS_CUDA();
    // 256 + 1 + (1 - 2^-7): a bf16 sum would stop at 256, and 257 would round to 256 before the
    // bias is added.
    const Conv2dShape shape{.n = 1, .c = 2, .h = 1, .w = 1, .k = 1, .r = 1, .s = 1};
    const DeviceBuffer x{Buffer(DType::bf16, {256, 1})}, w{Buffer(DType::bf16, {1, 1})};
    const DeviceBuffer bias{Buffer(DType::bf16, {0.9921875})}, y(DType::bf16, 1);
    cuda::conv2d_forward(y, x, w, bias, shape, {});
    EXPECT_EQ(y.host().get(0), 258);
}

}  // namespace
}  // namespace kernels::test::conv
