#pragma once

#include <gtest/gtest.h>

#include "cpu/conv2d_paths.h"
#include "kernels/conv2d_problem.h"
#include "kernels/targets.h"

/// The convolutions that are chosen on the CPU and our tiles, checked with the same problems.
namespace kernels::test::conv {

inline constexpr Kernels chosen = {cpu::conv2d_forward, cpu::conv2d_data_gradient,
                                   cpu::conv2d_weight_gradient};
inline constexpr Kernels tiled = {
    [](Array y, ConstArray x, ConstArray w, ConstArray bias, const Conv2dShape& shape, Stream) {
        cpu::conv2d_forward_tiled(y, x, w, bias, shape);
    },
    [](Array dx, ConstArray dy, ConstArray w, const Conv2dShape& shape, Stream) {
        if (shape.stride_h == 1 && shape.stride_w == 1)
            cpu::conv2d_data_gradient_tiled(dx, dy, w, shape);
        else
            cpu::conv2d_data_gradient_scattered(dx, dy, w, shape);
    },
    [](Array dw, Array dbias, ConstArray dy, ConstArray x, const Conv2dShape& shape, Stream) {
        cpu::conv2d_weight_gradient_tiled(dw, dy, x, shape);
        if (dbias.data) cpu::conv2d_bias_gradient(dbias, dy);
    }};

inline void check_scatter(const Problem& problem) {
    Buffer dx(problem.dtype, input_size(problem.shape));
    cpu::conv2d_data_gradient_scattered(dx, problem.dy, problem.w, problem.shape);
    expect_sums(dx, problem.dx_sums, "scattered dx");
}

/// Checks the implementation that is chosen, and our tiles with every instruction set.
inline void check(DType dtype, const Conv2dShape& shape) {
    SCOPED_TRACE(to_string(dtype, shape));
    const Problem problem(dtype, shape);
    problem.check(chosen);
    on_every_target([&] {
        problem.check(tiled);
        check_scatter(problem);
    });
}

}  // namespace kernels::test::conv
