#pragma once

#include <type_traits>

#include "kernels/elementwise.h"
#include "kernels/host_device.h"

/// The elementwise functions of integers, on every backend: T is std::int64_t or std::int32_t.
/// Arithmetic wraps around; a quotient by 0 and its remainder are 0.
namespace kernels::integer {

template <typename T>
HALFTONE_HOST_DEVICE inline T neg(T x) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(U{0} - static_cast<U>(x));
}
template <typename T>
HALFTONE_HOST_DEVICE inline T abs(T x) {
    return x < 0 ? neg(x) : x;
}
template <typename T>
HALFTONE_HOST_DEVICE inline T sign(T x) {
    return static_cast<T>((x > 0) - (x < 0));
}

template <typename T>
HALFTONE_HOST_DEVICE inline T add(T a, T b) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
}
template <typename T>
HALFTONE_HOST_DEVICE inline T sub(T a, T b) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) - static_cast<U>(b));
}
template <typename T>
HALFTONE_HOST_DEVICE inline T mul(T a, T b) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
}
template <typename T>
HALFTONE_HOST_DEVICE inline T square(T x) {
    return mul(x, x);
}
template <typename T>
HALFTONE_HOST_DEVICE inline T div(T a, T b) {
    if (b == 0) return 0;
    return b == -1 ? neg(a) : static_cast<T>(a / b);
}
/// The sign of a.
template <typename T>
HALFTONE_HOST_DEVICE inline T fmod(T a, T b) {
    return b == 0 || b == -1 ? T{0} : static_cast<T>(a % b);
}
/// The sign of b.
template <typename T>
HALFTONE_HOST_DEVICE inline T remainder(T a, T b) {
    const T rest = fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
}
/// A negative exponent gives the quotient 1 / a^-b, truncated: 0 but for a of 1 and -1.
template <typename T>
HALFTONE_HOST_DEVICE inline T pow(T a, T b) {
    if (b < 0) {
        if (a == -1) return b % 2 == 0 ? T{1} : T{-1};
        return a == 1 ? T{1} : T{0};
    }
    T power = 1;
    for (; b != 0; b /= 2) {
        if (b % 2 != 0) power = mul(power, a);
        a = mul(a, a);
    }
    return power;
}
template <typename T>
HALFTONE_HOST_DEVICE inline T maximum(T a, T b) {
    return a > b ? a : b;
}
template <typename T>
HALFTONE_HOST_DEVICE inline T minimum(T a, T b) {
    return a < b ? a : b;
}

#define HALFTONE_NUMBERS_floating(...)

/// op(x) if the op's row says `integer`, else 0.
template <typename T>
HALFTONE_HOST_DEVICE inline T unary(UnaryOp op, T x) {
    switch (op) {
#define HALFTONE_NUMBERS_integer(name) \
    case UnaryOp::name:                \
        return integer::name(x);
#define HALFTONE_UNARY(name, cpu, cuda, numbers) HALFTONE_NUMBERS_##numbers(name)
#include "kernels/elementwise_functions.inc"
#undef HALFTONE_NUMBERS_integer
        default:
            return 0;
    }
}

/// op(a, b) if the op's row says `integer`, else 0.
template <typename T>
HALFTONE_HOST_DEVICE inline T binary(BinaryOp op, T a, T b) {
    switch (op) {
#define HALFTONE_NUMBERS_integer(name) \
    case BinaryOp::name:               \
        return integer::name(a, b);
#define HALFTONE_BINARY(name, cpu, cuda, numbers) HALFTONE_NUMBERS_##numbers(name)
#include "kernels/elementwise_functions.inc"
#undef HALFTONE_NUMBERS_integer
        default:
            return 0;
    }
}

#undef HALFTONE_NUMBERS_floating

}  // namespace kernels::integer
