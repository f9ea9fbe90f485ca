#include <cassert>
#include <cmath>

#include "cuda/convert.cuh"
#include "cuda/pack.cuh"
#include "kernels/elementwise.h"

namespace kernels::cuda {
namespace {

__device__ __forceinline__ float one_less_product(float a, float b) {
    return std::fma(-a, b, 1.0f);  // fused on the CPU too
}
__device__ __forceinline__ double one_less_product(double a, double b) { return 1.0 - a * b; }

template <BinaryOp op, typename C>
__device__ __forceinline__ C combined(C a, C b) {
    if constexpr (op == BinaryOp::add)
        return a + b;
    else if constexpr (op == BinaryOp::sub)
        return a - b;
    else if constexpr (op == BinaryOp::mul)
        return a * b;
    else if constexpr (op == BinaryOp::div)
        return a / b;
    else if constexpr (op == BinaryOp::maximum)
        return a != a || a > b ? a : b;
    else if constexpr (op == BinaryOp::minimum)
        return a != a || a < b ? a : b;
    else if constexpr (op == BinaryOp::pow)
        return std::pow(a, b);
    else if constexpr (op == BinaryOp::atan2)
        return std::atan2(a, b);
    else if constexpr (op == BinaryOp::relu_backward)
        return b <= 0 ? C{0} : a;
    else if constexpr (op == BinaryOp::sigmoid_backward)
        return a * b * (C{1} - b);
    else if constexpr (op == BinaryOp::tanh_backward)
        return a * one_less_product(b, b);
    else if constexpr (op == BinaryOp::fmod)
        return std::fmod(a, b);
    else {
        const C r = std::fmod(a, b);
        return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
}

/// The f32 functions are more than 2 units off; the sum of a remainder would be rounded twice.
template <BinaryOp op>
constexpr bool in_double =
    op == BinaryOp::pow || op == BinaryOp::atan2 || op == BinaryOp::remainder;

template <BinaryOp op, typename T>
constexpr int binary_width = in_double<op> ? 1 : pack_width<T>;

template <BinaryOp op, typename T>
__global__ void binary_kernel(T* y, Operand<T> a, Operand<T> b, std::int64_t packs,
                              std::int64_t n) {
    map_packs<binary_width<op, T>>(y, a, b, packs, n, [](T u, T v) {
        if constexpr (in_double<op>)
            return narrow<T>(
                combined<op>(static_cast<double>(widen(u)), static_cast<double>(widen(v))));
        else
            return narrow<T>(combined<op>(widen(u), widen(v)));
    });
}

/// Arithmetic wraps around; a quotient by 0 is 0.
template <typename T>
__global__ void binary_integer_kernel(T* y, Operand<T> a, Operand<T> b, BinaryOp op,
                                      std::int64_t n) {
    using U = std::make_unsigned_t<T>;
    map_packs<1>(y, a, b, 0, n, [op](T s, T t) {
        const U u = static_cast<U>(s), v = static_cast<U>(t);
        switch (op) {
            case BinaryOp::add:
                return static_cast<T>(u + v);
            case BinaryOp::sub:
                return static_cast<T>(u - v);
            case BinaryOp::mul:
                return static_cast<T>(u * v);
            case BinaryOp::div:
                if (t == 0) return T{0};
                return t == -1 ? static_cast<T>(U{0} - u) : static_cast<T>(s / t);
            case BinaryOp::maximum:
                return s > t ? s : t;
            default:
                return s < t ? s : t;
        }
    });
}

template <BinaryOp op>
void start(Array y, ConstArray a, ConstArray b, Stream stream) {
    with_floating(y.dtype, [&](auto type) {
        using T = decltype(type);
        constexpr int width = binary_width<op, T>;
        auto* to = static_cast<T*>(y.data);
        const auto left = operand<T>(a), right = operand<T>(b);
        const std::int64_t packs = packs_in<width>(y.size, to, left.packed(), right.packed());
        launch("binary", binary_kernel<op, T>, grid_of_packs<width>(packs, y.size), stream, to,
               left, right, packs, y.size);
    });
}

template <typename T>
void start_integer(Array y, ConstArray a, ConstArray b, BinaryOp op, Stream stream) {
    launch("binary", binary_integer_kernel<T>, grid_for(y.size), stream, static_cast<T*>(y.data),
           operand<T>(a), operand<T>(b), op, y.size);
}

void start_floating(Array y, ConstArray a, ConstArray b, BinaryOp op, Stream stream) {
    switch (op) {
        case BinaryOp::add:
            return start<BinaryOp::add>(y, a, b, stream);
        case BinaryOp::sub:
            return start<BinaryOp::sub>(y, a, b, stream);
        case BinaryOp::mul:
            return start<BinaryOp::mul>(y, a, b, stream);
        case BinaryOp::div:
            return start<BinaryOp::div>(y, a, b, stream);
        case BinaryOp::maximum:
            return start<BinaryOp::maximum>(y, a, b, stream);
        case BinaryOp::minimum:
            return start<BinaryOp::minimum>(y, a, b, stream);
        case BinaryOp::pow:
            return start<BinaryOp::pow>(y, a, b, stream);
        case BinaryOp::atan2:
            return start<BinaryOp::atan2>(y, a, b, stream);
        case BinaryOp::relu_backward:
            return start<BinaryOp::relu_backward>(y, a, b, stream);
        case BinaryOp::sigmoid_backward:
            return start<BinaryOp::sigmoid_backward>(y, a, b, stream);
        case BinaryOp::tanh_backward:
            return start<BinaryOp::tanh_backward>(y, a, b, stream);
        case BinaryOp::fmod:
            return start<BinaryOp::fmod>(y, a, b, stream);
        case BinaryOp::remainder:
            return start<BinaryOp::remainder>(y, a, b, stream);
    }
}

}  // namespace

void binary(Array y, ConstArray a, ConstArray b, BinaryOp op, Stream stream) {
    assert(a.dtype == y.dtype && b.dtype == y.dtype);
    assert((a.size == y.size || a.size == 1) && (b.size == y.size || b.size == 1));
    if (y.size == 0) return;
    if (y.dtype == DType::i64)
        start_integer<std::int64_t>(y, a, b, op, stream);
    else if (y.dtype == DType::i32)
        start_integer<std::int32_t>(y, a, b, op, stream);
    else
        start_floating(y, a, b, op, stream);
}

}  // namespace kernels::cuda
