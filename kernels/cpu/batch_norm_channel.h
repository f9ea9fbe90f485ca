#pragma once

#include "cpu/scalar_convert.h"

namespace kernels::cpu {

/// One value of a per-channel array as double, `otherwise` where there is no array.
inline double channel_or(ConstArray x, std::int64_t c, double otherwise) {
    if (x.data == nullptr) return otherwise;
    if (x.dtype == DType::f32) return static_cast<double>(static_cast<const float*>(x.data)[c]);
    double value = 0;
    with_type(x.dtype, [&](auto type) {
        value = static_cast<double>(widen(static_cast<const decltype(type)*>(x.data)[c]));
    });
    return value;
}

/// Rounds a value into a per-channel array, if there is one.
inline void put_channel(Array x, std::int64_t c, double value) {
    if (x.data == nullptr) return;
    with_type(x.dtype, [&](auto type) {
        using T = decltype(type);
        static_cast<T*>(x.data)[c] = narrow<T>(value);
    });
}

}  // namespace kernels::cpu
