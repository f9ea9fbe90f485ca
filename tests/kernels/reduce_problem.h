#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "kernels/reduce.h"
#include "kernels/support.h"

namespace kernels::test {

inline const std::vector<ReduceOp> every_op = {
    ReduceOp::sum, ReduceOp::mean,    ReduceOp::prod,        ReduceOp::max,
    ReduceOp::min, ReduceOp::sum_abs, ReduceOp::sum_squares, ReduceOp::norm2};

/// Factors near 1, so that products stay in the range of the type.
inline Buffer terms(ReduceOp op, DType dtype, std::int64_t size) {
    return op == ReduceOp::prod ? random_buffer(dtype, size, 1, 1, 0.02)
                                : random_buffer(dtype, size, 1);
}

/// Any 64 bits, so that sums and products leave the range.
inline Buffer any_terms(std::int64_t size) {
    Buffer x(DType::i64, size);
    std::uint64_t bits = 7;
    for (std::int64_t i = 0; i < size; ++i) {
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        x.as<std::int64_t>()[i] = static_cast<std::int64_t>((bits ^ (bits >> 29)) | 1);
    }
    return x;
}

inline void expect_wrapping_reduction(Buffer y, Buffer x, std::int64_t n, std::int64_t inner,
                                      ReduceOp op) {
    for (std::int64_t i = 0; i < y.size(); ++i) {
        std::uint64_t sum = 0, product = 1;
        std::int64_t most = std::numeric_limits<std::int64_t>::min();
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (std::int64_t k = 0; k < n; ++k) {
            const std::int64_t v =
                x.as<std::int64_t>()[i / inner * n * inner + i % inner + k * inner];
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

inline const std::vector<ReduceOp> integer_ops = {ReduceOp::sum, ReduceOp::prod, ReduceOp::max,
                                                  ReduceOp::min};

}  // namespace kernels::test
