#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "cpu/dnnl_common.h"
#include "cpu/dnnl_ops.h"
#include "cpu/gemm_scratch.h"
#include "kernels/device.h"
#include "kernels/support.h"

namespace kernels::test {
namespace {

using cpu::PackB;

struct MatrixShape {
    std::int64_t m, n, k;
    bool b_transposed = false;
    bool bias = false;
    double beta = 0;
};

/// Small whole numbers, whose sums are exact.
Buffer product_numbers(DType dtype, std::int64_t size, std::int64_t seed) {
    Buffer out(dtype, size);
    for (std::int64_t i = 0; i < size; ++i)
        out.set(i, static_cast<double>((i * 7 + i / 13 + seed) % 7 - 3));
    return out;
}

struct Operands {
    Operands(DType dtype, const MatrixShape& shape_)
        : shape(shape_),
          a(product_numbers(dtype, shape.m * shape.k, 1)),
          b(product_numbers(dtype, shape.k * shape.n, 2)),
          bias(product_numbers(dtype, shape.n, 3)),
          c(product_numbers(dtype, shape.m * shape.n, 4)) {}
    MatrixShape shape;
    Buffer a, b, bias, c;

    /// The product's bytes; empty without an implementation.
    std::vector<unsigned char> product(PackB pack) const {
        Buffer out = c;
        const DType dtype = c.dtype();
        const bool there = cpu::dnnl_gemm(
            {out.array().data, dtype, shape.m, shape.n, shape.n},
            {a.bytes().data(), dtype, shape.m, shape.k, shape.k},
            {b.bytes().data(), dtype, shape.k, shape.n, shape.b_transposed ? shape.k : shape.n,
             shape.b_transposed},
            {.beta = shape.beta, .bias = shape.bias ? bias.bytes().data() : nullptr}, pack);
        return there ? out.bytes() : std::vector<unsigned char>();
    }
};

/// Whether the call copies b: into the scratch memory that copies go to.
bool copies(const Operands& of, PackB pack) {
    constexpr std::size_t size = 4096;
    constexpr unsigned char mark = 0xee;
    auto* memory = cpu::scratch<unsigned char>(cpu::Scratch::library_weights, size);
    std::memset(memory, mark, size);
    of.product(pack);
    // A longer copy has moved the block.
    memory = cpu::scratch<unsigned char>(cpu::Scratch::library_weights, size);
    return std::any_of(memory, memory + size, [](unsigned char byte) { return byte != mark; });
}

void expect_equal_products(DType dtype, const MatrixShape& shape) {
    if (!cpu::dnnl_supports(dtype)) return;
    with_threads([&](int threads) {
        const Operands of(dtype, shape);
        const auto packed = of.product(PackB::always);
        ASSERT_FALSE(packed.empty()) << "no implementation";
        EXPECT_EQ(of.product(PackB::never), packed)
            << shape.m << " x " << shape.k << " x " << shape.n << ", " << threads << " threads";
    });
}

/// Where sums round, the order of their terms differs: with AMX a packed b is summed in other
/// pieces of k. Whether b is packed therefore follows from the shape (SameBits).
TEST(DnnlGemm, HasTheSameExactSumsWhenBIsPackedBefore) {
    for (const DType dtype : {DType::f32, DType::bf16}) {
        expect_equal_products(dtype, {512, 520, 4101});
        expect_equal_products(dtype, {1500, 200, 3700, /*b_transposed=*/true});
        expect_equal_products(dtype, {5001, 256, 848, false, /*bias=*/true});
        expect_equal_products(dtype, {700, 200, 8001, false, false, /*beta=*/1});
        for (const std::int64_t size : {31, 32, 33, 65, 100})
            expect_equal_products(dtype, {size + 3, size, size + 1});
    }
}

TEST(DnnlGemm, KeepsInfinitiesToTheirRowsWhenBIsPackedBefore) {
    for (const DType dtype : {DType::f32, DType::bf16}) {
        if (!cpu::dnnl_supports(dtype)) continue;
        Operands of(dtype, {40, 33, 65});  // neither vectors nor pairs divide k
        of.a.set(65, static_cast<double>(infinity));
        of.b.set(7, static_cast<double>(nan));
        const auto packed = of.product(PackB::always);
        ASSERT_FALSE(packed.empty()) << "no implementation";
        EXPECT_EQ(of.product(PackB::never), packed);
    }
}

/// Many columns of a transposed b are computed in pieces, of c whose rows are longer than a piece,
/// and as a whole where c is added to; with a bias and relu.
TEST(DnnlGemm, GivesExactSumsForManyColumnsOfATransposedB) {
    constexpr std::int64_t m = 512, n = 4100, k = 24, ld = n + 3;
    for (const DType dtype : {DType::f32, DType::bf16})
        for (const double beta : {0.0, 1.0}) {
            if (!cpu::dnnl_supports(dtype)) continue;
            const Buffer a = product_numbers(dtype, m * k, 1), b = product_numbers(dtype, n * k, 2);
            const Buffer bias = product_numbers(dtype, n, 3),
                         before = product_numbers(dtype, m * ld, 4);
            Buffer c = before;
            ASSERT_TRUE(cpu::dnnl_gemm({c.array().data, dtype, m, n, ld},
                                       {a.bytes().data(), dtype, m, k, k},
                                       {b.bytes().data(), dtype, k, n, k, true},
                                       {.beta = beta, .bias = bias.bytes().data(), .relu = true}));
            for (std::int64_t row = 0; row < m; ++row)
                for (std::int64_t column = 0; column < ld; ++column) {
                    const std::int64_t at = row * ld + column;
                    double sum = before.get(at);
                    if (column < n) {
                        sum = beta * sum + bias.get(column);
                        for (std::int64_t i = 0; i < k; ++i)
                            sum += a.get(row * k + i) * b.get(column * k + i);
                        sum = std::max(sum, 0.0);
                    }
                    ASSERT_EQ(c.get(at), sum) << row << ", " << column << ", beta " << beta;
                }
        }
}

TEST(DnnlGemm, PacksALargeRowMajorBOfManyRows) {
    if (!cpu::info().avx512_bf16) GTEST_SKIP() << "oneDNN has no blocked order of b here";
    for (const DType dtype : {DType::f32, DType::bf16}) {
        if (dtype == DType::bf16 && cpu::info().amx_bf16) continue;
        EXPECT_TRUE(copies({dtype, {512, 512, 4096}}, PackB::if_faster));
        EXPECT_FALSE(copies({dtype, {512, 512, 4096}}, PackB::never));
        EXPECT_FALSE(copies({dtype, {511, 514, 4096}}, PackB::if_faster));
        EXPECT_FALSE(copies({dtype, {512, 512, 4095}}, PackB::if_faster));
        EXPECT_FALSE(copies({dtype, {512, 512, 4096, true}}, PackB::if_faster));
    }
}

TEST(DnnlGemm, PacksForAmxOnlyALargeBOfThousandsOfRows) {
    if (!cpu::info().amx_bf16) GTEST_SKIP() << "this processor has no AMX";
    EXPECT_TRUE(copies({DType::bf16, {4096, 4096, 2048}}, PackB::if_faster));
    EXPECT_FALSE(copies({DType::bf16, {4095, 4096, 2048}}, PackB::if_faster));
    EXPECT_FALSE(copies({DType::bf16, {4096, 4095, 2048}}, PackB::if_faster));
    EXPECT_FALSE(copies({DType::bf16, {4096, 4096, 2048, true}}, PackB::if_faster));
}

}  // namespace
}  // namespace kernels::test
