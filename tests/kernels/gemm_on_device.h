#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "kernels/device_copy.h"
#include "kernels/gemm_problem.h"

/// cuda::gemm on copies of the problems that the CPU solves.
namespace kernels::test::gemm {

/// cuda::gemm on copies whose operands begin `Offset` elements into their blocks.
template <int Offset>
void run_on_device(Matrix c, ConstMatrix a, ConstMatrix b, const GemmOptions& options) {
    const auto bytes = [&](std::int64_t stride, DType dtype) {
        return static_cast<std::size_t>(stride * options.batch) * size_of(dtype);
    };
    const auto offset = [](DType dtype) { return Offset * size_of(dtype); };
    const DeviceCopy on_c(c.data, bytes(options.stride_c, c.dtype), offset(c.dtype));
    const DeviceCopy on_a(a.data, bytes(options.stride_a, a.dtype), offset(a.dtype));
    const DeviceCopy on_b(b.data, bytes(options.stride_b, b.dtype), offset(b.dtype));
    std::unique_ptr<DeviceCopy> bias;
    GemmOptions there = options;
    if (options.bias) {
        const auto size = static_cast<std::size_t>(c.cols) * size_of(c.dtype);
        bias = std::make_unique<DeviceCopy>(options.bias, size, offset(c.dtype));
        there.bias = bias->get();
    }
    cuda::gemm({on_c.get(), c.dtype, c.rows, c.cols, c.ld},
               {on_a.get(), a.dtype, a.rows, a.cols, a.ld, a.transposed},
               {on_b.get(), b.dtype, b.rows, b.cols, b.ld, b.transposed}, there, {});
    on_c.read(c.data);
}

inline void check_on_device(const Case& c) {
    SCOPED_TRACE(to_string(c));
    const Problem problem(c);
    problem.check(run_on_device<0>);
    problem.check(run_on_device<1>);
}

}  // namespace kernels::test::gemm
