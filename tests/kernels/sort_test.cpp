#include <gtest/gtest.h>

#include "kernels/sort.h"
#include "kernels/support.h"
#include "kernels/twins.h"

namespace kernels::test {
namespace {

std::vector<double> order(const Buffer& x, std::int64_t outer, std::int64_t n, std::int64_t inner,
                          bool descending) {
    Buffer y(DType::i64, x.size());
    cpu::sort_order(y, x, outer, n, inner, descending, {});
    return y.values();
}

/// Sorts by counting: the place of element p is the number of elements that precede it.
std::vector<double> sorted_by_counting(const Buffer& x, std::int64_t outer, std::int64_t n,
                                       std::int64_t inner, bool descending) {
    const auto rank = [](double v) {  // NaN above infinity
        return std::isnan(v) ? std::pair(1, 0.0) : std::pair(0, v);
    };
    std::vector<double> result(static_cast<std::size_t>(x.size()));
    for (std::int64_t column = 0; column < outer * inner; ++column) {
        const std::int64_t first = column / inner * n * inner + column % inner;
        for (std::int64_t p = 0; p < n; ++p) {
            const auto mine = rank(x.get(first + p * inner));
            std::int64_t before = 0;
            for (std::int64_t q = 0; q < n; ++q) {
                const auto other = rank(x.get(first + q * inner));
                before += other == mine ? q < p : descending ? other > mine : other < mine;
            }
            result[static_cast<std::size_t>(first + before * inner)] = static_cast<double>(p);
        }
    }
    return result;
}

TEST(SortOrder, PutsEveryTypeInOrderAndIsStable) {
    for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64,
                              DType::i32, DType::u8, DType::boolean})
        for (const bool descending : {false, true})
            for (const auto& [outer, n, inner] :
                 {std::array<std::int64_t, 3>{1, 1, 1}, {3, 33, 1}, {2, 31, 3}, {2, 0, 3}}) {
                Buffer x(dtype, outer * n * inner);
                const int kinds = dtype == DType::boolean ? 2 : 7;  // many equal values
                for (std::int64_t i = 0; i < x.size(); ++i)
                    x.set(i, static_cast<double>(i * 7919 % 101 % kinds));
                EXPECT_EQ(order(x, outer, n, inner, descending),
                          sorted_by_counting(x, outer, n, inner, descending));
            }
}

TEST(SortOrder, CountsNaNAsLargestAndZerosAsEqual) {
    const double big = static_cast<double>(infinity), no = static_cast<double>(nan);
    for (const DType dtype : floating) {
        const Buffer x(dtype, std::vector<double>{0.0, no, -0.0, big, -big, no, 1});
        EXPECT_EQ(order(x, 1, 7, 1, false), (std::vector<double>{4, 0, 2, 6, 3, 1, 5}));
        EXPECT_EQ(order(x, 1, 7, 1, true), (std::vector<double>{1, 5, 3, 6, 0, 2, 4}));
    }
}

TEST(SortOrder, DoesNotDependOnTheThreads) {
    const Buffer x = random_buffer(DType::f32, 200 * 1000, 3);
    const auto expected = order(x, 20, 1000, 10, false);
    with_threads([&](int) { EXPECT_EQ(order(x, 20, 1000, 10, false), expected); });
}

struct SortShape {
    std::int64_t outer, n, inner;
    std::int64_t size() const { return outer * n * inner; }
};

void expect_same_order(const Buffer& x, const SortShape& s) {
    for (const bool descending : {false, true}) {
        const Results results =
            run_twins(cpu::sort_order, cuda::sort_order, DType::i64, s.size(), {x}, 0,
                      [&](SortOrder f, Array y, const std::vector<ConstArray>& in) {
                          f(y, in[0], s.outer, s.n, s.inner, descending, {});
                      });
        ASSERT_EQ(results.cuda.bytes(), results.cpu.bytes())
            << "(" << s.outer << ", " << s.n << ", " << s.inner << ") of type "
            << static_cast<int>(x.dtype()) << (descending ? " descending" : "");
    }
}

Buffer many_equal(DType dtype, std::int64_t size) {
    Buffer x(dtype, size);
    for (std::int64_t i = 0; i < size; ++i)
        x.set(i, static_cast<double>(i * 7919 % 1013 % (dtype == DType::boolean ? 2 : 29)));
    return x;
}

TEST(CudaSortOrder, MeetsTheCpuInEveryType) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : every_dtype)
        for (const SortShape& s : {SortShape{2, 33, 3}, {1, 1500, 1}}) {
            expect_same_order(many_equal(dtype, s.size()), s);
            if (dtype != DType::boolean) expect_same_order(awkward_buffer(dtype, s.size(), 7), s);
        }
}

TEST(CudaSortOrder, MeetsTheCpuInEveryShape) {
    HALFTONE_NEEDS_CUDA();
    // Segments that fill a block and some that do not; one, two and three merges, with an unpaired
    // run.
    for (const SortShape& s : {SortShape{1, 1, 1},
                               {0, 5, 2},
                               {2, 0, 3},
                               {5, 2, 1},
                               {7, 3, 2},
                               {300, 5, 3},
                               {1, 512, 3},
                               {1, 1024, 1},
                               {3, 1025, 1},
                               {1, 2049, 2},
                               {1, 5000, 1}})
        expect_same_order(random_buffer(DType::f32, s.size(), 8), s);
}

TEST(CudaSortOrder, IsStableOverLongRowsOfEqualElements) {
    HALFTONE_NEEDS_CUDA();
    for (const SortShape& s : {SortShape{1, 3000, 1}, {2, 2500, 2}}) {
        expect_same_order(many_equal(DType::f16, s.size()), s);
        expect_same_order(
            Buffer(DType::f32, std::vector<double>(static_cast<std::size_t>(s.size()), 1)), s);
    }
}

}  // namespace
}  // namespace kernels::test
