#include <gtest/gtest.h>

#include "kernels/reduce.h"
#include "kernels/reduce_problem.h"
#include "kernels/support.h"
#include "kernels/twins.h"

// The device's reductions beside those of the CPU.
namespace kernels::test {
namespace {

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
