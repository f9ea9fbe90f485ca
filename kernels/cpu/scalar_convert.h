#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/array.h"
#include "kernels/small_float.h"

namespace kernels::cpu {

/// The stored form of DType::boolean: any byte but 0 is true.
struct Boolean {
    std::uint8_t value;
};

/// Exact value in the wide type of its kind: double for floats, int64_t for integers.
inline double widen(double v) { return v; }
inline double widen(float v) { return static_cast<double>(v); }
inline double widen(Half v) { return static_cast<double>(to_float(v)); }
inline double widen(BFloat16 v) { return static_cast<double>(to_float(v)); }
inline std::int64_t widen(std::int64_t v) { return v; }
inline std::int64_t widen(std::int32_t v) { return v; }
inline std::int64_t widen(std::uint8_t v) { return v; }
inline std::int64_t widen(Boolean v) { return v.value != 0; }

/// Integers beyond 2^48 keep their leading bits and a sticky bit for the rest, which is enough to
/// round to 16-bit floats once.
inline double sticky(std::int64_t v) {
    constexpr std::int64_t limit = std::int64_t{1} << 48;
    if (v > -limit && v < limit) return static_cast<double>(v);
    const std::uint64_t magnitude =
        v < 0 ? 0 - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v);
    const std::uint64_t high =
        magnitude >> 16 | static_cast<std::uint64_t>((magnitude & 0xffff) != 0);
    const double value = static_cast<double>(high) * 65536.0;
    return v < 0 ? -value : value;
}

/// Truncates; beyond the range of int64_t the nearest end, NaN gives 0.
inline std::int64_t truncate(double v) {
    if (std::isnan(v)) return 0;
    if (v >= 0x1p63) return std::numeric_limits<std::int64_t>::max();
    if (v < -0x1p63) return std::numeric_limits<std::int64_t>::min();
    return static_cast<std::int64_t>(v);
}

/// A wide value as T; floats round to nearest even once, integers wrap.
template <class T>
T narrow(double v) {
    if constexpr (std::is_same_v<T, Half>) {
        return to_half(round_to_odd(v));
    } else if constexpr (std::is_same_v<T, BFloat16>) {
        return to_bfloat16(round_to_odd(v));
    } else if constexpr (std::is_same_v<T, Boolean>) {
        return {static_cast<std::uint8_t>(v != 0)};
    } else if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(truncate(v));
    } else {
        return static_cast<T>(v);
    }
}
template <class T>
T narrow(std::int64_t v) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
        return narrow<T>(sticky(v));
    } else if constexpr (std::is_same_v<T, Boolean>) {
        return {static_cast<std::uint8_t>(v != 0)};
    } else {
        return static_cast<T>(v);
    }
}

/// f(T{}) with T the stored type of dtype.
template <class F>
decltype(auto) with_type(DType dtype, const F& f) {
    switch (dtype) {
        case DType::f64:
            return f(double{});
        case DType::f32:
            return f(float{});
        case DType::f16:
            return f(Half{});
        case DType::bf16:
            return f(BFloat16{});
        case DType::i64:
            return f(std::int64_t{});
        case DType::i32:
            return f(std::int32_t{});
        case DType::u8:
            return f(std::uint8_t{});
        case DType::boolean:
            break;
    }
    return f(Boolean{});
}

}  // namespace kernels::cpu
