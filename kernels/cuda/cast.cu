#include <cassert>
#include <limits>

#include "cuda/convert.cuh"
#include "cuda/pack.cuh"
#include "kernels/cuda_device.h"
#include "kernels/elementwise.h"

namespace kernels::cuda {
namespace {

/// DType::boolean as stored: any byte but 0 is true.
struct Boolean {
    std::uint8_t value;
};

template <typename T>
constexpr bool is_16_bit = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <typename T>
constexpr bool is_float = std::is_floating_point_v<T> || is_16_bit<T>;

/// Truncates; beyond the range of int64_t the nearest end, NaN gives 0.
template <typename F>
__device__ __forceinline__ std::int64_t truncate(F v) {
    if (v != v) return 0;
    if (v >= static_cast<F>(0x1p63)) return std::numeric_limits<std::int64_t>::max();
    if (v < static_cast<F>(-0x1p63)) return std::numeric_limits<std::int64_t>::min();
    return static_cast<std::int64_t>(v);
}

/// A double that rounds to 16 bits as v does: beyond 2^48 the leading bits and one for "more
/// below".
__device__ __forceinline__ double sticky(std::int64_t v) {
    constexpr std::int64_t limit = std::int64_t{1} << 48;
    if (v > -limit && v < limit) return static_cast<double>(v);
    const std::uint64_t bits = static_cast<std::uint64_t>(v);
    const std::uint64_t magnitude = v < 0 ? 0 - bits : bits;
    const std::uint64_t high = magnitude >> 16 | ((magnitude & 0xffff) != 0 ? 1u : 0u);
    const double value = static_cast<double>(high) * 65536.0;
    return v < 0 ? -value : value;
}

template <typename To, typename From>
__device__ __forceinline__ To converted(From v) {
    if constexpr (std::is_same_v<From, Boolean>) {
        return converted<To>(static_cast<std::uint8_t>(v.value != 0));
    } else if constexpr (is_float<From>) {
        if constexpr (is_float<To>)
            return narrow<To>(widen(v));
        else if constexpr (std::is_same_v<To, Boolean>)
            return {static_cast<std::uint8_t>(widen(v) != 0)};
        else
            return static_cast<To>(truncate(widen(v)));
    } else if constexpr (std::is_same_v<To, Boolean>) {
        return {static_cast<std::uint8_t>(v != 0)};
    } else if constexpr (is_16_bit<To>) {
        if constexpr (sizeof(From) == 1)
            return narrow<To>(static_cast<float>(v));
        else
            return narrow<To>(sticky(v));
    } else {
        return static_cast<To>(v);
    }
}

template <typename To, typename From>
__global__ void cast_kernel(To* y, const From* x, std::int64_t packs, std::int64_t n) {
    map_packs<pack_width<To, From>>(y, x, packs, n, [](From v) { return converted<To>(v); });
}

template <typename F>
void with_any(DType dtype, const F& f) {
    if (dtype == DType::boolean)
        f(Boolean{});
    else
        with_stored(dtype, f);
}

template <typename To, typename From>
void start(Array y, ConstArray x, Stream stream) {
    constexpr int width = pack_width<To, From>;
    auto* to = static_cast<To*>(y.data);
    const auto* from = static_cast<const From*>(x.data);
    const std::int64_t packs = packs_in<width>(y.size, to, from);
    launch("cast", cast_kernel<To, From>, grid_of_packs<width>(packs, y.size), stream, to, from,
           packs, y.size);
}

}  // namespace

void cast(Array y, ConstArray x, Stream stream) {
    assert(y.size == x.size);
    if (y.size == 0) return;
    if (y.dtype == x.dtype) {
        if (y.data == x.data) return;
        copy_on_device(y.data, x.data, static_cast<std::size_t>(y.size) * size_of(y.dtype), stream);
        return;
    }
    with_any(y.dtype, [&](auto to) {
        with_any(x.dtype, [&](auto from) {
            if constexpr (!std::is_same_v<decltype(to), decltype(from)>)
                start<decltype(to), decltype(from)>(y, x, stream);
        });
    });
}

}  // namespace kernels::cuda
