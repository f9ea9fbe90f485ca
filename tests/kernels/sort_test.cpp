#include "kernels/sort.h"

#include <gtest/gtest.h>

#include "kernels/support.h"

namespace kernels::test {
namespace {

std::vector<double> order(const Buffer& x, std::int64_t outer, std::int64_t n, std::int64_t inner,
                          bool descending) {
    Buffer y(DType::i64, x.size());
    cpu::sort_order(y, x, outer, n, inner, descending, {});
    return y.values();
}

/// By counting: element p goes to the place that as many others go before it.
std::vector<double> counted(const Buffer& x, std::int64_t outer, std::int64_t n, std::int64_t inner,
                            bool descending) {
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
                const int kinds = dtype == DType::boolean ? 2 : 7;  // many equal
                for (std::int64_t i = 0; i < x.size(); ++i)
                    x.set(i, static_cast<double>(i * 7919 % 101 % kinds));
                EXPECT_EQ(order(x, outer, n, inner, descending),
                          counted(x, outer, n, inner, descending));
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

}  // namespace
}  // namespace kernels::test
