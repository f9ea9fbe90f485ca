#include "kernels/svd.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/support.h"

namespace kernels::test {
namespace {

struct Decomposed {
    std::int64_t rows, cols, k;
    std::vector<double> u, s, v;
};

Decomposed decomposed(const std::vector<double>& x, std::int64_t rows, std::int64_t cols) {
    const std::int64_t k = std::min(rows, cols);
    const auto sized = [](std::int64_t n) {
        return std::vector<double>(static_cast<std::size_t>(n));
    };
    Decomposed d{rows, cols, k, sized(rows * k), sized(k), sized(cols * k)};
    cpu::svd(d.u.data(), d.s.data(), d.v.data(), x.data(), 1, rows, cols);
    return d;
}

double at(const std::vector<double>& m, std::int64_t cols, std::int64_t i, std::int64_t j) {
    return m[static_cast<std::size_t>(i * cols + j)];
}

/// Expects that u diag(s) v^T is x, that the columns are orthonormal and that s descends, within
/// about 50 units of f64 of the largest value.
void expect_decomposition(const std::vector<double>& x, std::int64_t rows, std::int64_t cols) {
    const Decomposed d = decomposed(x, rows, cols);
    const double slack = 50 * 0x1p-52 * (d.k > 0 ? d.s[0] : 0);
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < cols; ++j) {
            double sum = 0;
            for (std::int64_t l = 0; l < d.k; ++l)
                sum += at(d.u, d.k, i, l) * d.s[static_cast<std::size_t>(l)] * at(d.v, d.k, j, l);
            ASSERT_NEAR(sum, at(x, cols, i, j), slack);
        }
    for (const auto& [m, length] : {std::pair(&d.u, rows), std::pair(&d.v, cols)})
        for (std::int64_t a = 0; a < d.k; ++a)
            for (std::int64_t b = 0; b < d.k; ++b) {
                double sum = 0;
                for (std::int64_t i = 0; i < length; ++i)
                    sum += at(*m, d.k, i, a) * at(*m, d.k, i, b);
                ASSERT_NEAR(sum, a == b, 100 * 0x1p-52) << a << " " << b;
            }
    for (std::size_t l = 1; l < d.s.size(); ++l) EXPECT_GE(d.s[l - 1], d.s[l]);
}

TEST(Svd, DecomposesTallWideAndSquareMatrices) {
    for (const auto& [rows, cols] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                                     {5, 3},
                                     {3, 5},
                                     {7, 7},
                                     {1, 9},
                                     {9, 1},
                                     {20, 12}})
        for (const double scale : {1.0, 1e-170, 1e170}) {
            std::vector<double> x = random_buffer(DType::f64, rows * cols, 4).values();
            for (double& value : x) value *= scale;
            expect_decomposition(x, rows, cols);
        }
}

TEST(Svd, GivesOrthonormalVectorsToZerosToo) {
    expect_decomposition({0, 0, 0, 0, 0, 0}, 3, 2);
    expect_decomposition({1, 2, 2, 4, 3, 6}, 3, 2);
    expect_decomposition({1, 2, 3, 2, 4, 6}, 2, 3);
}

TEST(Svd, FindsKnownValues) {
    EXPECT_EQ(decomposed({0, 2, 0, 0, 0, -3}, 2, 3).s, (std::vector<double>{3, 2}));
}

TEST(Svd, OfNaNIsNaN) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(std::isnan(decomposed({1, none, 2, 3}, 2, 2).s[0]));
}

}  // namespace
}  // namespace kernels::test
