#pragma once

#include "cuda/launch.cuh"
#include "kernels/device_error.h"
#include "kernels/dtype.h"

#ifdef __CUDA_ARCH__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

/// Stored types and the types that are computed in: f64 in double, f32, f16 and bf16 in float.
namespace kernels::cuda {

template <typename T>
struct ComputeType {
    using type = float;
};
template <>
struct ComputeType<double> {
    using type = double;
};
template <typename T>
using Compute = typename ComputeType<T>::type;

template <typename T>
__device__ __forceinline__ Compute<T> widen(T value) {
    if constexpr (std::is_same_v<T, Half>) {
#ifdef __CUDA_ARCH__
        return __half2float(__ushort_as_half(value.bits));
#else
        return to_float(value);
#endif
    } else if constexpr (std::is_same_v<T, BFloat16>) {
#ifdef __CUDA_ARCH__
        return __uint_as_float(static_cast<unsigned>(value.bits) << 16);
#else
        return to_float(value);
#endif
    } else {
        return static_cast<Compute<T>>(value);
    }
}

/// Rounds once to nearest even.
template <typename T>
__device__ __forceinline__ T narrow(float value) {
    if constexpr (std::is_same_v<T, Half>) {
#ifdef __CUDA_ARCH__
        return Half{__half_as_ushort(__float2half_rn(value))};
#else
        return to_half(value);
#endif
    } else if constexpr (std::is_same_v<T, BFloat16>) {
#ifdef __CUDA_ARCH__
        return BFloat16{__bfloat16_as_ushort(__float2bfloat16_rn(value))};
#else
        return to_bfloat16(value);
#endif
    } else {
        return static_cast<T>(value);
    }
}

/// f64 to 16 bits is rounded once too: through f32 rounded to odd.
__device__ __forceinline__ float to_float_odd(double value) {
    const float nearest = static_cast<float>(value);
    const double back = static_cast<double>(nearest);
    if (back == value || value != value) return nearest;
    std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
    // Away from the value on the far side: step back to the one toward zero, then make it odd.
    const bool beyond = value > 0 ? back > value : back < value;
    if (beyond) --bits;
    return std::bit_cast<float>(bits | 1u);
}

template <typename T>
__device__ __forceinline__ T narrow(double value) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
        return narrow<T>(to_float_odd(value));
    } else {
        return static_cast<T>(value);
    }
}

/// Calls f(T{}) with the floating type T of `dtype`; throws DeviceError for others.
template <typename F>
void with_floating(DType dtype, F&& f) {
    switch (dtype) {
        case DType::f64:
            return f(double{});
        case DType::f32:
            return f(float{});
        case DType::f16:
            return f(Half{});
        case DType::bf16:
            return f(BFloat16{});
        default:
            throw DeviceError("a CUDA kernel for floating numbers was given integers");
    }
}

/// Calls f(T{}) with the stored type of `dtype`; boolean is std::uint8_t.
template <typename F>
void with_stored(DType dtype, F&& f) {
    switch (dtype) {
        case DType::i64:
            return f(std::int64_t{});
        case DType::i32:
            return f(std::int32_t{});
        case DType::u8:
        case DType::boolean:
            return f(std::uint8_t{});
        default:
            return with_floating(dtype, f);
    }
}

}  // namespace kernels::cuda
