#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/dtype.h"

namespace kernels::cuda {

/// Calls f(T{}) with the unsigned integer T of 1, 2, 4 or 8 bytes, for what moves bits as they are.
template <typename F>
void with_raw(std::size_t size, const F& f) {
    switch (size) {
        case 8:
            return f(std::uint64_t{});
        case 4:
            return f(std::uint32_t{});
        case 2:
            return f(std::uint16_t{});
        default:
            return f(std::uint8_t{});
    }
}
template <typename F>
void with_raw(DType dtype, const F& f) {
    with_raw(size_of(dtype), f);
}

}  // namespace kernels::cuda
