#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kernels/gemm.h"
#include "kernels/sum_tolerance.h"
#include "kernels/support.h"

/// Matrix products with their exact results, for the tests of every backend.
namespace kernels::test::gemm {

struct Case {
    DType in = DType::f32, out = DType::f32;
    std::int64_t m = 1, n = 1, k = 1;
    bool a_transposed = false, b_transposed = false;
    std::int64_t pad = 0;  ///< elements between the rows of every matrix
    std::int64_t batch = 1;
    double alpha = 1, beta = 0;
    bool bias = false, relu = false;
};

inline std::string to_string(const Case& c) {
    return "in " + std::to_string(static_cast<int>(c.in)) + " out " +
           std::to_string(static_cast<int>(c.out)) + " m " + std::to_string(c.m) + " n " +
           std::to_string(c.n) + " k " + std::to_string(c.k) + " ta " +
           std::to_string(c.a_transposed) + " tb " + std::to_string(c.b_transposed) + " pad " +
           std::to_string(c.pad) + " batch " + std::to_string(c.batch) + " alpha " +
           std::to_string(c.alpha) + " beta " + std::to_string(c.beta) + " bias " +
           std::to_string(c.bias) + " relu " + std::to_string(c.relu);
}

/// A matrix of `batch` blocks in memory, possibly stored transposed.
struct Operand {
    Operand(const Case& c, DType dtype, std::int64_t rows, std::int64_t cols, bool transposed_,
            unsigned seed)
        : transposed(transposed_),
          ld((transposed ? rows : cols) + c.pad),
          stride((transposed ? cols : rows) * ld + c.pad),
          values(random_buffer(dtype, stride * c.batch, seed)) {}
    std::int64_t index(std::int64_t block, std::int64_t row, std::int64_t col) const {
        return block * stride + (transposed ? col * ld + row : row * ld + col);
    }
    bool transposed;
    std::int64_t ld, stride;
    Buffer values;
};

/// Operands, and the exact product, computed in double from the stored values. The memory between
/// the rows of c must not change.
struct Problem {
    explicit Problem(const Case& c)
        : how(c),
          a(c, c.in, c.m, c.k, c.a_transposed, 1),
          b(c, c.in, c.k, c.n, c.b_transposed, 2),
          before(c, c.out, c.m, c.n, false, 3),
          bias(random_buffer(c.out, c.n, 4)),
          expected(before.values.values()),
          tolerance(expected.size(), 0.0) {
        const std::vector<double> as = a.values.values(), bs = b.values.values();
        const auto product = [&](std::int64_t block, std::int64_t i, std::int64_t j,
                                 std::int64_t p) {
            return as[static_cast<std::size_t>(a.index(block, i, p))] *
                   bs[static_cast<std::size_t>(b.index(block, p, j))];
        };
        for (std::int64_t block = 0; block < c.batch; ++block)
            for (std::int64_t i = 0; i < c.m; ++i)
                for (std::int64_t j = 0; j < c.n; ++j) {
                    double sum = 0, magnitude = 0;
                    for (std::int64_t p = 0; p < c.k; ++p) {
                        sum += product(block, i, j, p);
                        magnitude += std::abs(product(block, i, j, p));
                    }
                    finish(static_cast<std::size_t>(before.index(block, i, j)), j, sum, magnitude);
                }
    }

    void finish(std::size_t at, std::int64_t j, double sum, double magnitude) {
        const double old = how.beta == 0 ? 0 : how.beta * expected[at];
        const double shift = how.bias ? bias.get(j) : 0;
        sum = how.alpha * sum + old + shift;
        magnitude = std::abs(how.alpha) * magnitude + std::abs(old) + std::abs(shift);
        tolerance[at] = sum_tolerance(how.out, how.k, magnitude, sum);
        expected[at] = how.relu && sum < 0 ? 0 : sum;
    }

    template <class Run>
    void check(const Run& run) const {
        Buffer out = before.values;
        run({out.array().data, how.out, how.m, how.n, before.ld},
            {a.values.bytes().data(), how.in, how.m, how.k, a.ld, how.a_transposed},
            {b.values.bytes().data(), how.in, how.k, how.n, b.ld, how.b_transposed},
            GemmOptions{.batch = how.batch,
                        .stride_c = before.stride,
                        .stride_a = a.stride,
                        .stride_b = b.stride,
                        .alpha = how.alpha,
                        .beta = how.beta,
                        .bias = how.bias ? bias.bytes().data() : nullptr,
                        .relu = how.relu});
        for (std::int64_t i = 0; i < out.size(); ++i) {
            const auto at = static_cast<std::size_t>(i);
            ASSERT_LE(std::abs(out.get(i) - expected[at]), tolerance[at]) << "element " << i;
        }
    }

    Case how;
    Operand a, b, before;
    Buffer bias;
    std::vector<double> expected, tolerance;
};

struct Types {
    DType in, out;
};
constexpr Types all_types[] = {{DType::f64, DType::f64}, {DType::f32, DType::f32},
                               {DType::f16, DType::f16}, {DType::bf16, DType::bf16},
                               {DType::f16, DType::f32}, {DType::bf16, DType::f32}};

}  // namespace kernels::test::gemm
