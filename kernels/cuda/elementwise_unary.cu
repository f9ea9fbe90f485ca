#include <cassert>
#include <cmath>

#include "cuda/convert.cuh"
#include "cuda/elementwise_math.cuh"
#include "cuda/pack.cuh"

namespace kernels::cuda {
namespace {

/// The ops of one or two instructions.
template <UnaryOp op, typename C>
__device__ __forceinline__ C simple(C x) {
    if constexpr (op == UnaryOp::neg)
        return -x;
    else if constexpr (op == UnaryOp::abs)
        return std::fabs(x);
    else if constexpr (op == UnaryOp::sign)
        return static_cast<C>((x > 0) - (x < 0));
    else if constexpr (op == UnaryOp::sqrt)
        return std::sqrt(x);
    else if constexpr (op == UnaryOp::rsqrt)
        return C{1} / std::sqrt(x);
    else if constexpr (op == UnaryOp::reciprocal)
        return C{1} / x;
    else if constexpr (op == UnaryOp::square)
        return x * x;
    else if constexpr (op == UnaryOp::relu)
        return x <= 0 ? C{0} : x;
    else if constexpr (op == UnaryOp::floor)
        return std::floor(x);
    else if constexpr (op == UnaryOp::ceil)
        return std::ceil(x);
    else if constexpr (op == UnaryOp::round)
        return std::rint(x);
    else if constexpr (op == UnaryOp::trunc)
        return std::trunc(x);
    else
        return static_cast<C>(x == 0);
}

template <UnaryOp op, typename T>
__global__ void unary_kernel(T* y, const T* x, std::int64_t packs, std::int64_t n) {
    map_packs<pack_width<T>>(y, x, packs, n, [](T v) { return narrow<T>(simple<op>(widen(v))); });
}

template <typename T>
__global__ void unary_integer_kernel(T* y, const T* x, UnaryOp op, std::int64_t n) {
    using U = std::make_unsigned_t<T>;
    map_packs<1>(y, x, 0, n, [op](T v) {
        const U u = static_cast<U>(v);
        switch (op) {
            case UnaryOp::neg:
                return static_cast<T>(U{0} - u);
            case UnaryOp::abs:
                return v < 0 ? static_cast<T>(U{0} - u) : v;
            case UnaryOp::sign:
                return static_cast<T>((v > 0) - (v < 0));
            default:
                return static_cast<T>(u * u);
        }
    });
}

__global__ void logical_not_kernel(std::uint8_t* y, const std::uint8_t* x, std::int64_t packs,
                                   std::int64_t n) {
    map_packs<16>(y, x, packs, n, [](std::uint8_t v) { return std::uint8_t{v == 0}; });
}

template <UnaryOp op>
bool start(Array y, ConstArray x, Stream stream) {
    with_floating(y.dtype, [&](auto type) {
        using T = decltype(type);
        constexpr int width = pack_width<T>;
        auto* to = static_cast<T*>(y.data);
        const auto* from = static_cast<const T*>(x.data);
        const std::int64_t packs = packs_in<width>(y.size, to, from);
        launch("unary", unary_kernel<op, T>, grid_of_packs<width>(packs, y.size), stream, to, from,
               packs, y.size);
    });
    return true;
}

/// False if the op is not one of `simple`.
bool start_simple(Array y, ConstArray x, UnaryOp op, Stream stream) {
    switch (op) {
        case UnaryOp::neg:
            return start<UnaryOp::neg>(y, x, stream);
        case UnaryOp::abs:
            return start<UnaryOp::abs>(y, x, stream);
        case UnaryOp::sign:
            return start<UnaryOp::sign>(y, x, stream);
        case UnaryOp::sqrt:
            return start<UnaryOp::sqrt>(y, x, stream);
        case UnaryOp::rsqrt:
            return start<UnaryOp::rsqrt>(y, x, stream);
        case UnaryOp::reciprocal:
            return start<UnaryOp::reciprocal>(y, x, stream);
        case UnaryOp::square:
            return start<UnaryOp::square>(y, x, stream);
        case UnaryOp::relu:
            return start<UnaryOp::relu>(y, x, stream);
        case UnaryOp::floor:
            return start<UnaryOp::floor>(y, x, stream);
        case UnaryOp::ceil:
            return start<UnaryOp::ceil>(y, x, stream);
        case UnaryOp::round:
            return start<UnaryOp::round>(y, x, stream);
        case UnaryOp::trunc:
            return start<UnaryOp::trunc>(y, x, stream);
        case UnaryOp::logical_not:
            return start<UnaryOp::logical_not>(y, x, stream);
        default:
            return false;
    }
}

template <typename T>
void start_integer(Array y, ConstArray x, UnaryOp op, Stream stream) {
    launch("unary", unary_integer_kernel<T>, grid_for(y.size), stream, static_cast<T*>(y.data),
           static_cast<const T*>(x.data), op, y.size);
}

void start_logical_not(Array y, ConstArray x, Stream stream) {
    auto* to = static_cast<std::uint8_t*>(y.data);
    const auto* from = static_cast<const std::uint8_t*>(x.data);
    const std::int64_t packs = packs_in<16>(y.size, to, from);
    launch("unary", logical_not_kernel, grid_of_packs<16>(packs, y.size), stream, to, from, packs,
           y.size);
}

}  // namespace

void unary(Array y, ConstArray x, UnaryOp op, Stream stream) {
    assert(y.size == x.size && y.dtype == x.dtype);
    if (y.size == 0) return;
    if (y.dtype == DType::i64)
        start_integer<std::int64_t>(y, x, op, stream);
    else if (y.dtype == DType::i32)
        start_integer<std::int32_t>(y, x, op, stream);
    else if (!is_floating(y.dtype) && op == UnaryOp::logical_not)
        start_logical_not(y, x, stream);
    else if (!start_simple(y, x, op, stream))
        unary_math(y, x, op, stream);
}

}  // namespace kernels::cuda
