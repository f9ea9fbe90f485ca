#pragma once

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace engine::test {

/// The type and the bytes of x, of any device; "none" for an undefined one.
inline std::string bits(const Tensor& x) {
    if (!x.defined()) return "none";
    const Tensor host = x.copy_to(Device{});
    std::string out(host.bytes(), '\0');
    std::memcpy(out.data(), host.data(), host.bytes());
    return name(x.dtype()) + out;
}

/// Between -1 and 1, without a pattern that sums could hide.
inline Tensor numbers(const Shape& shape, DType dtype, int seed) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < shape.numel(); ++i)
        values.push_back(std::sin(static_cast<double>(seed) + 1.7 * static_cast<double>(i)));
    return Tensor::of(values, shape, dtype, Device{});
}

}  // namespace engine::test
