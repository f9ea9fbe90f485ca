#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "cpu/gemm_tiled.h"
#include "kernels/gemm_problem.h"
#include "kernels/targets.h"

/// The product that is chosen on the CPU and our tiles, checked with the same problems.
namespace kernels::test::gemm {

inline void run_chosen(Matrix c, ConstMatrix a, ConstMatrix b, const GemmOptions& options) {
    cpu::gemm(c, a, b, options, {});
}

/// Checks the implementation that is chosen, and our tiles with every instruction set.
inline void check(const Case& c) {
    SCOPED_TRACE(to_string(c));
    const Problem problem(c);
    problem.check(run_chosen);
    if (c.m == 0 || c.n == 0) return;
    on_every_target([&] { problem.check(cpu::gemm_tiled); });
}

inline Matrix matrix(Buffer& values, std::int64_t rows, std::int64_t cols) {
    return {values.array().data, values.dtype(), rows, cols, cols};
}
inline ConstMatrix matrix(const Buffer& values, std::int64_t rows, std::int64_t cols) {
    return {values.bytes().data(), values.dtype(), rows, cols, cols};
}
/// size x size elements with the same value.
inline Buffer square(DType dtype, std::int64_t size, double value) {
    return {dtype, std::vector<double>(static_cast<std::size_t>(size * size), value)};
}

}  // namespace kernels::test::gemm
