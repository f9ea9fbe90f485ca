#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "cpu/gemm_tiled.h"
#include "kernels/device_array.h"
#include "kernels/gemm.h"
#include "kernels/gemm_on_cpu.h"
#include "kernels/support.h"
#include "kernels/targets.h"

// The bits of a product: one rounding of f32 sums, subnormals, infinities and NaNs.
namespace kernels::test::gemm {
namespace {

/// The product of a row (1, k) and a column (k, 1) in dtype.
double dot(DType dtype, const std::vector<double>& row, const std::vector<double>& column) {
    const Buffer a(dtype, row), b(dtype, column);
    Buffer c(dtype, 1);
    const auto k = static_cast<std::int64_t>(row.size());
    cpu::gemm(matrix(c, 1, 1), matrix(a, 1, k), matrix(b, k, 1), {}, {});
    return c.get(0);
}

TEST(Gemm, RoundsBfloat16ProductsOnceFromFloatSums) {
    EXPECT_EQ(dot(DType::bf16, {256, 1}, {1, 1}), 256);
    EXPECT_EQ(dot(DType::bf16, {1, 0x1p-8}, {1, 1}), 1);
    EXPECT_EQ(dot(DType::bf16, {1, 3 * 0x1p-8}, {1, 1}), 1.015625);
    EXPECT_EQ(dot(DType::bf16, {65504}, {2}), 131072);
    EXPECT_EQ(dot(DType::bf16, {256, 1, 1, 1}, {1, 1, 1, 1}), 260);  // a bf16 sum would stay 256
}

TEST(Gemm, RoundsHalfProductsOnceFromFloatSums) {
    EXPECT_EQ(dot(DType::f16, {300}, {300}), inf);
    EXPECT_EQ(dot(DType::f16, {65519}, {1}), 65504);
    EXPECT_EQ(dot(DType::f16, {65520}, {1}), inf);
    EXPECT_EQ(dot(DType::f16, {2048, 1}, {1, 1}), 2048);
    EXPECT_EQ(dot(DType::f16, {2048, 3}, {1, 1}), 2052);
    EXPECT_EQ(dot(DType::f16, {0x1p-25}, {1}), 0);
    // Partial sums may exceed the range of f16.
    EXPECT_EQ(dot(DType::f16, {300, -300}, {300, 299}), 300);
}

/// How operands lie in memory, and whether tiles convert them or a copy is made first, changes no
/// bit: every sum runs over k in order, and is rounded once.
TEST(Gemm, GivesTheSameBitsHoweverOperandsLie) {
    const std::int64_t shapes[][3] = {{32, 64, 64}, {64, 64, 32}, {32, 64, 2},   {33, 48, 20},
                                      {13, 16, 37}, {70, 35, 18}, {120, 32, 64}, {5, 31, 3}};
    for (const DType in : {DType::f32, DType::f16, DType::bf16})
        for (const auto& [m, n, k] : shapes)
            for (const bool relu : {false, true}) {
                const Buffer a = random_buffer(in, m * k, 1), b = random_buffer(in, k * n, 2);
                const Buffer bias = random_buffer(in, n, 3);
                Buffer a_turned = a, b_turned = b, wide_bias(DType::f32, bias.values());
                for (std::int64_t i = 0; i < m; ++i)
                    for (std::int64_t p = 0; p < k; ++p) a_turned.set(p * m + i, a.get(i * k + p));
                for (std::int64_t p = 0; p < k; ++p)
                    for (std::int64_t j = 0; j < n; ++j) b_turned.set(j * k + p, b.get(p * n + j));
                on_every_target([&, m = m, n = n, k = k] {
                    Buffer wide(DType::f32, m * n);
                    cpu::gemm_tiled(matrix(wide, m, n), matrix(a, m, k), matrix(b, k, n),
                                    {.bias = wide_bias.bytes().data(), .relu = relu});
                    const Buffer expected(in, wide.values());
                    for (const bool turn_a : {false, true})
                        for (const bool turn_b : {false, true}) {
                            ConstMatrix left = matrix(turn_a ? a_turned : a, m, k);
                            ConstMatrix right = matrix(turn_b ? b_turned : b, k, n);
                            if (turn_a) left.ld = m, left.transposed = true;
                            if (turn_b) right.ld = k, right.transposed = true;
                            Buffer c(in, m * n);
                            cpu::gemm_tiled(matrix(c, m, n), left, right,
                                            {.bias = bias.bytes().data(), .relu = relu});
                            ASSERT_EQ(c.bytes(), expected.bytes())
                                << m << " x " << n << " x " << k << (turn_a ? " a" : "")
                                << (turn_b ? " b" : "");
                        }
                });
            }
}

TEST(Gemm, KeepsSubnormalHalfs) {
    EXPECT_EQ(dot(DType::f16, {0x1p-24}, {1}), 0x1p-24);
    EXPECT_EQ(dot(DType::f16, {0x1p-24, 0x1p-24}, {1, 1}), 0x1p-23);
    for (const std::int64_t size : {8, 256}) {
        Buffer identity = square(DType::f16, size, 0), c = identity;
        for (std::int64_t i = 0; i < size; ++i) identity.set(i * size + i, 1);
        const Buffer least = square(DType::f16, size, 0x1p-24);
        cpu::gemm(matrix(c, size, size), matrix(std::as_const(identity), size, size),
                  matrix(least, size, size), {}, {});
        for (std::int64_t i = 0; i < c.size(); ++i) ASSERT_EQ(c.get(i), 0x1p-24);
    }
}

TEST(Gemm, KeepsOrFlushesSubnormalBfloat16s) {
    for (const std::int64_t size : {2, 64}) {
        Buffer identity = square(DType::bf16, size, 0), c = identity;
        for (std::int64_t i = 0; i < size; ++i) identity.set(i * size + i, 1);
        const Buffer subnormal = square(DType::bf16, size, 0x1p-130);
        cpu::gemm(matrix(c, size, size), matrix(std::as_const(identity), size, size),
                  matrix(subnormal, size, size), {}, {});
        for (const double value : c.values()) ASSERT_TRUE(value == 0x1p-130 || value == 0) << value;
    }
}

TEST(Gemm, PassesInfinitiesAndNaNsToTheirRowsAndColumnsOnly) {
    for (const Types& types : all_types)
        for (const bool relu : {false, true})
            for (const std::int64_t size : {9, 256}) {
                Buffer a = square(types.in, size, 0.5);
                const Buffer b = a;
                Buffer c(types.out, size * size);
                a.set(2 * size + 3, std::nan(""));
                a.set(5 * size + 1, inf);
                cpu::gemm(matrix(c, size, size), matrix(std::as_const(a), size, size),
                          matrix(b, size, size), {.relu = relu}, {});
                for (std::int64_t i = 0; i < size; ++i)
                    for (std::int64_t j = 0; j < size; ++j) {
                        const double value = c.get(i * size + j);
                        if (i == 2)
                            ASSERT_TRUE(std::isnan(value)) << size;
                        else
                            ASSERT_EQ(value, i == 5 ? inf : 0.25 * static_cast<double>(size));
                    }
            }
}

TEST(CudaGemm, RoundsSixteenBitProductsOnceFromFloatSums) {
    HALFTONE_NEEDS_CUDA();
    const auto dot = [](DType dtype, std::vector<double> row, std::vector<double> column) {
        const DeviceBuffer a{Buffer(dtype, row)}, b{Buffer(dtype, column)}, c(dtype, 1);
        const auto k = static_cast<std::int64_t>(row.size());
        cuda::gemm({c.as<void>(), dtype, 1, 1, 1}, {a.as<void>(), dtype, 1, k, k},
                   {b.as<void>(), dtype, k, 1, 1}, {}, {});
        return c.host().get(0);
    };
    EXPECT_EQ(dot(DType::bf16, {256, 1, 1, 1}, {1, 1, 1, 1}), 260);
    EXPECT_EQ(dot(DType::bf16, {1, 3 * 0x1p-8}, {1, 1}), 1.015625);
    EXPECT_EQ(dot(DType::f16, {65519}, {1}), 65504);
    EXPECT_EQ(dot(DType::f16, {65520}, {1}), std::numeric_limits<double>::infinity());
    EXPECT_EQ(dot(DType::f16, {300, -300}, {300, 299}), 300);
    EXPECT_EQ(dot(DType::f16, {0x1p-24}, {1}), 0x1p-24);
}

TEST(CudaGemm, PassesNaNsThroughTheReluToTheirRowsOnly) {
    HALFTONE_NEEDS_CUDA();
    constexpr std::int64_t size = 16;
    for (const Types& types : all_types) {
        Buffer values(types.in, std::vector<double>(size * size, 0.5));
        const DeviceBuffer b(values), c(types.out, size * size);
        values.set(2 * size + 3, std::nan(""));
        const DeviceBuffer a(values);
        cuda::gemm({c.as<void>(), types.out, size, size, size},
                   {a.as<void>(), types.in, size, size, size},
                   {b.as<void>(), types.in, size, size, size}, {.relu = true}, {});
        const Buffer out = c.host();
        for (std::int64_t i = 0; i < size * size; ++i) {
            if (i / size == 2)
                ASSERT_TRUE(std::isnan(out.get(i)));
            else
                ASSERT_EQ(out.get(i), 4);
        }
    }
}

}  // namespace
}  // namespace kernels::test::gemm
