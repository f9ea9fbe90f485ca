#include <gtest/gtest.h>

#include "kernels/reduce.h"
#include "kernels/support.h"
#include "kernels/targets.h"
#include "kernels/twins.h"

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

const std::vector<ReduceOp> every_op = {ReduceOp::sum,         ReduceOp::mean, ReduceOp::prod,
                                        ReduceOp::max,         ReduceOp::min,  ReduceOp::sum_abs,
                                        ReduceOp::sum_squares, ReduceOp::norm2};

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

/// Factors near 1, so that products stay in the range of the type.
Buffer terms(ReduceOp op, DType dtype, std::int64_t size) {
    return op == ReduceOp::prod ? random_buffer(dtype, size, 1, 1, 0.02)
                                : random_buffer(dtype, size, 1);
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

/// Any 64 bits, so that sums and products leave the range.
Buffer any_terms(std::int64_t size) {
    Buffer x(DType::i64, size);
    std::uint64_t bits = 7;
    for (std::int64_t i = 0; i < size; ++i) {
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        x.as<std::int64_t>()[i] = static_cast<std::int64_t>((bits ^ (bits >> 29)) | 1);
    }
    return x;
}

void expect_wrapping_reduction(Buffer y, Buffer x, std::int64_t n, std::int64_t inner,
                               ReduceOp op) {
    for (std::int64_t i = 0; i < y.size(); ++i) {
        std::uint64_t sum = 0, product = 1;
        std::int64_t most = std::numeric_limits<std::int64_t>::min();
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (std::int64_t k = 0; k < n; ++k) {
            const std::int64_t v = x.as<std::int64_t>()[i / inner * n * inner + i % inner + k * inner];
            sum += static_cast<std::uint64_t>(v);
            product *= static_cast<std::uint64_t>(v);
            most = std::max(most, v);
            least = std::min(least, v);
        }
        const std::int64_t wanted = op == ReduceOp::sum    ? static_cast<std::int64_t>(sum)
                                    : op == ReduceOp::prod ? static_cast<std::int64_t>(product)
                                    : op == ReduceOp::max  ? most
                                                           : least;
        ASSERT_EQ(y.as<std::int64_t>()[i], wanted)
            << "op " << static_cast<int>(op) << ", " << n << " terms, result " << i;
    }
}

const std::vector<ReduceOp> integer_ops = {ReduceOp::sum, ReduceOp::prod, ReduceOp::max,
                                           ReduceOp::min};

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

struct ReduceShape {
    std::int64_t outer, n, inner;
    std::int64_t results() const { return outer * inner; }
    std::int64_t size() const { return outer * n * inner; }
};

std::ostream& operator<<(std::ostream& out, const ReduceShape& s) {
    return out << "(" << s.outer << ", " << s.n << ", " << s.inner << ")";
}

Buffer reduced_on_cpu(DType to, const Buffer& x, const ReduceShape& s, ReduceOp op) {
    Buffer y(to, s.results());
    cpu::reduce(y, x, s.outer, s.n, s.inner, op, {});
    return y;
}

Buffer reduced_on_cuda(DType to, const Buffer& x, const ReduceShape& s, ReduceOp op,
                       std::int64_t skip = 0) {
    Buffer moved(x.dtype(), x.size() + skip);
    std::copy(x.bytes().begin(), x.bytes().end(),
              moved.as<unsigned char>() + static_cast<std::size_t>(skip) * size_of(x.dtype()));
    const DeviceBuffer in(moved), y(to, s.results() + skip);
    cuda::reduce(from(y, skip), from(in, skip), s.outer, s.n, s.inner, op, {});
    const Buffer all = y.host();
    Buffer result(to, s.results());
    for (std::int64_t i = 0; i < result.size(); ++i) result.set(i, all.get(i + skip));
    return result;
}

/// Compares with the CPU's sums in f64. A term goes through at most 128 additions in its thread and
/// 13 in its block, once per pass (at most three here); a product has as many roundings. Each adds
/// half a unit relative to the sum of magnitudes.
void expect_twin_reduction(const Buffer& x, DType to, const ReduceShape& s, ReduceOp op,
                           std::int64_t skip = 0) {
    const Buffer y = reduced_on_cuda(to, x, s, op, skip);
    const Buffer exact = reduced_on_cpu(DType::f64, x, s, op);
    const Buffer magnitude = reduced_on_cpu(DType::f64, x, s, ReduceOp::sum_abs);
    const bool wide = to == DType::f64 || x.dtype() == DType::f64;
    const double terms = static_cast<double>(s.n);
    const double steps =
        std::min(terms, 128.0) + 13 + (s.n > 128 ? 141 : 0) + (s.n > 16384 ? 141 : 0) + 4;
    for (std::int64_t i = 0; i < y.size(); ++i) {
        double relative_to = std::fabs(exact.get(i));
        if (op == ReduceOp::sum) relative_to = magnitude.get(i);
        if (op == ReduceOp::mean) relative_to = magnitude.get(i) / terms;
        if (op == ReduceOp::prod) relative_to *= terms;
        if (op == ReduceOp::max || op == ReduceOp::min) relative_to = 0;
        const double slack = steps * (wide ? 0x1p-53 : 0x1p-24) * relative_to * (wide ? 2 : 1);
        ASSERT_TRUE(near(y.get(i), exact.get(i), to, std::isfinite(slack) ? slack : 0))
            << "op " << static_cast<int>(op) << " of " << s << ", result " << i;
    }
}

const std::vector<ReduceShape> reduce_shapes = {
    {1, 1, 1},     {1, 33, 1},   {3, 1000, 1}, {5, 1025, 1}, {2, 4095, 1}, {1, 9001, 1},
    {300, 9, 1},   {4, 3, 5},    {1, 1, 100},  {1, 7, 300},  {0, 5, 1},    {5, 4, 0},
    {1, 32, 2},    {2, 31, 33},  {3, 50, 31},  {1, 130, 64}, {2, 2100, 3}, {1, 5000, 4},
    {1, 700, 257}, {2, 129, 32}, {1, 600, 100}};

const std::vector<ReduceShape> some_reduce_shapes = {
    {5, 4, 3}, {3, 200, 1}, {1, 9001, 1}, {1, 700, 33}};

TEST(CudaReduce, MeetsTheCpuForEveryOpAndType) {
    HALFTONE_NEEDS_CUDA();
    for (ReduceOp op : every_op)
        for (DType dtype : floating)
            for (const ReduceShape& s : some_reduce_shapes) {
                const Buffer x = terms(op, dtype, s.size());
                for (DType to : {dtype, DType::f32, DType::f64})
                    if (dtype != DType::f64 || to == DType::f64)
                        expect_twin_reduction(x, to, s, op);
            }
}

TEST(CudaReduce, MeetsTheCpuForMoreShapes) {
    HALFTONE_NEEDS_CUDA();
    for (ReduceOp op : {ReduceOp::sum, ReduceOp::max})
        for (const ReduceShape& s : reduce_shapes)
            expect_twin_reduction(terms(op, DType::bf16, s.size()), DType::f32, s, op);
}

TEST(CudaReduce, OfIntegersWrapsAround) {
    HALFTONE_NEEDS_CUDA();
    for (const ReduceOp op : integer_ops)
        for (const auto& [outer, n, inner] : std::vector<std::array<std::int64_t, 3>>{
                 {1, 1, 1}, {1, 3000, 1}, {3, 65, 5}, {2, 64, 3}, {2, 0, 3}, {40, 500, 1}}) {
            const Buffer x = any_terms(outer * n * inner);
            const DeviceBuffer in(x), y(DType::i64, outer * inner);
            cuda::reduce(y, in, outer, n, inner, op, {});
            expect_wrapping_reduction(y.host(), x, n, inner, op);
        }
}

TEST(CudaReduce, TakesMisalignedStarts) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : floating)
        for (std::int64_t skip : {1, 3})
            for (const ReduceShape& s :
                 {ReduceShape{3, 1000, 1}, {1, 9001, 1}, {2, 4096, 1}, {3, 50, 31}})
                expect_twin_reduction(terms(ReduceOp::sum, dtype, s.size()), dtype, s,
                                      ReduceOp::sum, skip);
}

TEST(CudaReduce, JoinsTheChunksOfLongSums) {
    HALFTONE_NEEDS_CUDA();
    for (ReduceOp op : {ReduceOp::norm2, ReduceOp::mean, ReduceOp::max, ReduceOp::sum_abs})
        for (const ReduceShape& s : {ReduceShape{1, 300'001, 1}, {2, 70'000, 1}, {1, 50'000, 10}})
            expect_twin_reduction(terms(op, DType::f32, s.size()), DType::f32, s, op);
    const ReduceShape three_passes{1, 140'000, 33};
    expect_twin_reduction(terms(ReduceOp::sum, DType::bf16, three_passes.size()), DType::f32,
                          three_passes, ReduceOp::sum);
}

TEST(CudaReduce, GivesAThreadOrAWarpToEachOfManyResults) {
    HALFTONE_NEEDS_CUDA();
    for (const ReduceShape& s :
         {ReduceShape{70'001, 5, 1}, {9000, 40, 1}, {300, 20, 64}, {6000, 20, 3}, {40'000, 2, 3}})
        expect_twin_reduction(terms(ReduceOp::sum, DType::f16, s.size()), DType::f16, s,
                              ReduceOp::sum);
}

TEST(CudaReduce, GivesTheNeutralElementForNoTerms) {
    HALFTONE_NEEDS_CUDA();
    const Buffer none(DType::f32, 0);
    for (ReduceOp op : every_op)
        for (std::int64_t inner : {1, 3, 40'000})
            EXPECT_TRUE(same(reduced_on_cuda(DType::f32, none, {1, 0, inner}, op),
                             reduced_on_cpu(DType::f32, none, {1, 0, inner}, op)))
                << static_cast<int>(op);
}

TEST(CudaReduce, KeepsNaNAndInfinity) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : floating)
        for (const ReduceShape& s : {ReduceShape{2, 7, 1}, {2, 100, 1}, {2, 5000, 1}, {2, 100, 5}})
            for (const float value : {nan, infinity, -infinity})
                for (std::int64_t place : {std::int64_t{0}, s.n - 1}) {
                    Buffer x = random_buffer(dtype, s.size(), 3);
                    x.set(place * s.inner, static_cast<double>(value));
                    for (ReduceOp op : {ReduceOp::max, ReduceOp::min})
                        ASSERT_TRUE(same(reduced_on_cuda(dtype, x, s, op),
                                         reduced_on_cpu(dtype, x, s, op)));
                    const Buffer sum = reduced_on_cuda(dtype, x, s, ReduceOp::sum);
                    EXPECT_TRUE(std::isnan(value) ? std::isnan(sum.get(0))
                                                  : sum.get(0) == static_cast<double>(value));
                    EXPECT_TRUE(std::isfinite(sum.get(s.results() - 1)));
                }
}

TEST(CudaReduce, DoesNotOverflowInTheNormOfHalfs) {
    HALFTONE_NEEDS_CUDA();
    const Buffer x(DType::f16, std::vector<double>(1000, 60000));
    const Buffer y = reduced_on_cuda(DType::f32, x, {1, 1000, 1}, ReduceOp::norm2);
    EXPECT_NEAR(y.get(0), stored(DType::f16, 60000) * std::sqrt(1000.0), 10);
}

TEST(CudaReduce, GivesTheSameBitsEveryTime) {
    HALFTONE_NEEDS_CUDA();
    for (const ReduceShape& s : {ReduceShape{1, 100'003, 1}, {3, 1000, 1}, {1, 20'000, 24}}) {
        const Buffer x = random_buffer(DType::f32, s.size(), 4);
        EXPECT_EQ(reduced_on_cuda(DType::f32, x, s, ReduceOp::sum).bytes(),
                  reduced_on_cuda(DType::f32, x, s, ReduceOp::sum).bytes());
    }
}

void expect_same_arg_max(const Buffer& x, const ReduceShape& s) {
    Buffer expected(DType::i64, s.results());
    cpu::arg_max(expected, x, s.outer, s.n, s.inner, {});
    const DeviceBuffer in(x), y(DType::i64, s.results());
    cuda::arg_max(y, in, s.outer, s.n, s.inner, {});
    ASSERT_EQ(y.host().bytes(), expected.bytes()) << s << " " << static_cast<int>(x.dtype());
}

TEST(CudaArgMax, FindsTheFirstLargestOfEveryTypeAndShape) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype :
         {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32, DType::u8})
        for (const ReduceShape& s : reduce_shapes) {
            if (dtype != DType::f32 && s.size() > 3000) continue;
            expect_same_arg_max(awkward_buffer(dtype, s.size(), 5), s);
            Buffer x(dtype, s.size());  // many equal
            for (std::int64_t i = 0; i < x.size(); ++i)
                x.set(i, static_cast<double>(i * 7919 % 31 % 5));
            expect_same_arg_max(x, s);
        }
}

TEST(CudaArgMax, GoesOnBeyondOneGrid) {
    HALFTONE_NEEDS_CUDA();
    for (const ReduceShape& s :
         {ReduceShape{9000, 10, 1}, {300, 20, 64}, {1, 70'001, 1}, {700, 100, 1}, {20, 1100, 3}})
        expect_same_arg_max(random_buffer(DType::f32, s.size(), 6), s);
}

TEST(CudaArgMax, CountsNaNAsLargestAndHandlesRowsOfMinusInfinity) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : floating)
        for (std::int64_t n : {3, 100, 3000}) {
            Buffer x(dtype, 3 * n);
            for (std::int64_t i = 0; i < x.size(); ++i) x.set(i, static_cast<double>(-infinity));
            x.set(n + n / 2, static_cast<double>(nan));
            x.set(2 * n - 1, static_cast<double>(nan));
            x.set(2 * n, static_cast<double>(infinity));
            x.set(3 * n - 1, static_cast<double>(nan));
            expect_same_arg_max(x, {3, n, 1});
        }
}

}  // namespace
}  // namespace kernels::test
