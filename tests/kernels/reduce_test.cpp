#include <gtest/gtest.h>

#include "kernels/reduce.h"
#include "kernels/reduce_problem.h"
#include "kernels/support.h"
#include "kernels/targets.h"

namespace kernels::test {
namespace {

struct ExpectedResult {
    double value;
    double magnitude;  ///< errors are relative to it: the sum of the terms' magnitudes
};

ExpectedResult reference_result(const Buffer& x, std::int64_t first, std::int64_t n,
                                std::int64_t step, ReduceOp op) {
    const double none = std::numeric_limits<double>::infinity();
    double sum = 0, magnitude = 0, squares = 0, product = 1, most = -none, least = none;
    for (std::int64_t i = 0; i < n; ++i) {
        const double v = x.get(first + i * step);
        sum += v;
        magnitude += std::fabs(v);
        squares += v * v;
        product *= v;
        most = std::isnan(v) || std::isnan(most) ? static_cast<double>(nan) : std::max(most, v);
        least = std::isnan(v) || std::isnan(least) ? static_cast<double>(nan) : std::min(least, v);
    }
    switch (op) {
        case ReduceOp::sum:
            return {sum, magnitude};
        case ReduceOp::mean:
            return {sum / static_cast<double>(n), magnitude / static_cast<double>(n)};
        case ReduceOp::prod:
            return {product, std::fabs(product) * static_cast<double>(n)};
        case ReduceOp::max:
            return {most, 0};
        case ReduceOp::min:
            return {least, 0};
        case ReduceOp::sum_abs:
            return {magnitude, magnitude};
        case ReduceOp::sum_squares:
            return {squares, squares};
        case ReduceOp::norm2:
            return {std::sqrt(squares), std::sqrt(squares)};
    }
    return {0, 0};
}

/// A term goes through at most 128 additions in its block and then log2 of the number of blocks.
/// Each adds half a unit of f32, relative to the sum of magnitudes. The typical error is far
/// smaller.
void expect_reduction(const Buffer& x, DType to, std::int64_t outer, std::int64_t n,
                      std::int64_t inner, ReduceOp op) {
    Buffer y(to, outer * inner);
    cpu::reduce(y, x, outer, n, inner, op, {});
    const bool wide = to == DType::f64 || x.dtype() == DType::f64;
    const double half_unit = wide ? 0x1p-53 : 0x1p-24;
    const double steps = static_cast<double>(std::min<std::int64_t>(n, 128)) +
                         std::log2(static_cast<double>(n) + 1) + 4;
    for (std::int64_t i = 0; i < y.size(); ++i) {
        const ExpectedResult expected =
            reference_result(x, i / inner * n * inner + i % inner, n, inner, op);
        const double slack = steps * half_unit * expected.magnitude;
        ASSERT_TRUE(near(y.get(i), expected.value, to, std::isfinite(slack) ? slack : 0))
            << "op " << static_cast<int>(op) << " of (" << outer << ", " << n << ", " << inner
            << "), result " << i;
    }
}

TEST(Reduce, MeetsTheReferenceForEveryOpTypeAndShape) {
    struct ReduceShape {
        std::int64_t outer, n, inner;
    };
    for (ReduceOp op : every_op)
        for (DType dtype : floating)
            for (const ReduceShape& s : {ReduceShape{1, 1, 1},
                                         {1, 33, 1},
                                         {3, 1000, 1},
                                         {1, 32, 2},
                                         {2, 31, 33},
                                         {1, 130, 64},
                                         {1, 7, 300},
                                         {4, 3, 5},
                                         {1, 1, 100},
                                         {0, 5, 1},
                                         {1, 2100, 4}}) {
                const Buffer x = terms(op, dtype, s.outer * s.n * s.inner);
                for (DType to : {dtype, DType::f32, DType::f64})
                    if (dtype != DType::f64 || to == DType::f64)
                        expect_reduction(x, to, s.outer, s.n, s.inner, op);
            }
}

TEST(Reduce, MeetsTheReferenceOnEveryTarget) {
    on_every_target([] {
        for (ReduceOp op : every_op)
            for (DType dtype : {DType::f32, DType::f16, DType::bf16}) {
                const Buffer x = terms(op, dtype, 3 * 131 * 37);
                expect_reduction(x, DType::f32, 3 * 37, 131, 1, op);
                expect_reduction(x, DType::f32, 3, 131, 37, op);
            }
    });
}

TEST(Reduce, GivesTheNeutralElementForNoTerms) {
    const Buffer x(DType::f32, 0);
    const auto result = [&](ReduceOp op, std::int64_t inner) {
        Buffer y(DType::f32, inner);
        cpu::reduce(y, x, 1, 0, inner, op, {});
        return y.get(inner - 1);
    };
    for (std::int64_t inner : {1, 3}) {
        EXPECT_EQ(result(ReduceOp::sum, inner), 0);
        EXPECT_EQ(result(ReduceOp::prod, inner), 1);
        EXPECT_EQ(result(ReduceOp::max, inner), static_cast<double>(-infinity));
        EXPECT_EQ(result(ReduceOp::min, inner), static_cast<double>(infinity));
        EXPECT_EQ(result(ReduceOp::norm2, inner), 0);
        EXPECT_TRUE(std::isnan(result(ReduceOp::mean, inner)));
    }
}

TEST(Reduce, KeepsNaNInMaxMinAndSum) {
    on_every_target([] {
        for (DType dtype : floating)
            for (std::int64_t inner : {1, 5})
                for (std::int64_t place : {0, 57, 99}) {
                    Buffer x = random_buffer(dtype, 100 * inner, 3);
                    x.set(place * inner, static_cast<double>(nan));
                    Buffer y(dtype, inner);
                    for (ReduceOp op : {ReduceOp::max, ReduceOp::min, ReduceOp::sum}) {
                        cpu::reduce(y, x, 1, 100, inner, op, {});
                        EXPECT_TRUE(std::isnan(y.get(0)));
                        if (inner > 1) {
                            EXPECT_FALSE(std::isnan(y.get(1)));
                        }
                    }
                }
    });
}

TEST(Reduce, SumsAMillionTenthsWithoutDrift) {
    // A single running f32 sum would be off by more than 900 here; blocks of 128 stay within 128
    // half units.
    const std::int64_t n = 1 << 20;
    Buffer x(DType::f32, n), y(DType::f32, 1);
    for (std::int64_t i = 0; i < n; ++i) x.set(i, 0.1);
    cpu::reduce(y, x, 1, n, 1, ReduceOp::sum, {});
    const double exact = static_cast<double>(n) * static_cast<double>(0.1f);
    EXPECT_NEAR(y.get(0), exact, exact * 0x1p-17);
}

TEST(Reduce, DoesNotOverflowInTheNormOfHalfs) {
    Buffer x(DType::f16, std::vector<double>(1000, 60000)), y(DType::f32, 1);
    cpu::reduce(y, x, 1, 1000, 1, ReduceOp::norm2, {});
    EXPECT_NEAR(y.get(0), stored(DType::f16, 60000) * std::sqrt(1000.0), 10);
}

TEST(Reduce, GivesTheSameBitsForEveryThreadCount) {
    struct ReduceShape {
        std::int64_t outer, n, inner;
    };
    for (DType dtype : floating)
        for (const ReduceShape& s :
             {ReduceShape{1, 300007, 1}, {1, 5000, 64}, {700, 300, 1}, {3, 2000, 300}}) {
            const Buffer x = random_buffer(dtype, s.outer * s.n * s.inner, 4);
            Buffer expected(dtype, s.outer * s.inner);
            cpu::set_threads(1);
            cpu::reduce(expected, x, s.outer, s.n, s.inner, ReduceOp::sum, {});
            with_threads([&](int) {
                Buffer y(dtype, expected.size());
                cpu::reduce(y, x, s.outer, s.n, s.inner, ReduceOp::sum, {});
                EXPECT_EQ(y.bytes(), expected.bytes());
            });
        }
}

TEST(Reduce, OfIntegersWrapsAround) {
    for (const ReduceOp op : integer_ops)
        for (const auto& [outer, n, inner] : std::vector<std::array<std::int64_t, 3>>{
                 {1, 1, 1}, {1, 1000, 1}, {3, 17, 5}, {2, 0, 3}, {0, 4, 1}}) {
            const Buffer x = any_terms(outer * n * inner);
            Buffer y(DType::i64, outer * inner);
            cpu::reduce(y, x, outer, n, inner, op, {});
            expect_wrapping_reduction(y, x, n, inner, op);
        }
}

TEST(ArgMax, FindsTheFirstLargestAndCountsNaNAsLargest) {
    for (DType dtype : floating) {
        const Buffer x(dtype,
                       {1, 5, 5, 2, 3, static_cast<double>(nan), 9, static_cast<double>(nan)});
        Buffer y(DType::i64, 2);
        cpu::arg_max(y, x, 2, 4, 1, {});
        EXPECT_EQ(y.values(), (std::vector<double>{1, 1}));
        Buffer across(DType::i64, 4);
        cpu::arg_max(across, x, 1, 2, 4, {});
        EXPECT_EQ(across.values(), (std::vector<double>{1, 1, 1, 1}));
    }
}

TEST(ArgMax, HandlesRowsOfInfinities) {
    const Buffer x(DType::f32, {-inf, -inf, -inf, inf});
    Buffer y(DType::i64, 2);
    cpu::arg_max(y, x, 2, 2, 1, {});
    EXPECT_EQ(y.values(), (std::vector<double>{0, 1}));
}

}  // namespace
}  // namespace kernels::test
