#pragma once

#include "kernels/conv2d_problem.h"
#include "kernels/device_copy.h"

namespace kernels::test::conv {

template <typename A>
std::size_t bytes_of(const A& array) {
    return static_cast<std::size_t>(array.size) * size_of(array.dtype);
}
inline DeviceCopy there(const ConstArray& a) {
    return DeviceCopy(a.data, a.data ? bytes_of(a) : 0);
}
inline ConstArray view(const DeviceCopy& copy, const ConstArray& a) {
    return {a.data ? copy.get() : nullptr, a.dtype, a.size};
}
inline Array view(const DeviceCopy& copy, const Array& a) {
    return {a.data ? copy.get() : nullptr, a.dtype, a.size};
}

/// The CUDA kernels on copies of the host's arrays.
inline constexpr Kernels on_device = {
    [](Array y, ConstArray x, ConstArray w, ConstArray bias, const Conv2dShape& shape, Stream s) {
        const DeviceCopy dy = there(y), dx = there(x), dw = there(w), db = there(bias);
        cuda::conv2d_forward(view(dy, y), view(dx, x), view(dw, w), view(db, bias), shape, s);
        dy.read(y.data);
    },
    [](Array dx, ConstArray dy, ConstArray w, const Conv2dShape& shape, Stream s) {
        const DeviceCopy to = there(dx), from = there(dy), weights = there(w);
        cuda::conv2d_data_gradient(view(to, dx), view(from, dy), view(weights, w), shape, s);
        to.read(dx.data);
    },
    [](Array dw, Array dbias, ConstArray dy, ConstArray x, const Conv2dShape& shape, Stream s) {
        const DeviceCopy to = there(dw), bias = there(dbias), from = there(dy), in = there(x);
        cuda::conv2d_weight_gradient(view(to, dw), view(bias, dbias), view(from, dy), view(in, x),
                                     shape, s);
        to.read(dw.data);
        if (dbias.data) bias.read(dbias.data);
    }};

}  // namespace kernels::test::conv
