#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cuda/grid_stride.cuh"

/// Loops over dense memory, several elements to an access.
namespace kernels::cuda {

/// `width` neighbours; up to 16 bytes move with one instruction.
template <typename T, int width>
struct alignas(std::min<std::size_t>(sizeof(T) * width, 16)) Pack {
    T at[width];
};

/// Elements of the widest of the types in 16 bytes.
template <typename... T>
constexpr int pack_width = 16 / static_cast<int>(std::max({sizeof(T)...}));

/// Whole packs of `width` in n elements; 0 where a pointer is not aligned for them. An operand that
/// is not read in packs is given as nullptr.
template <int width, typename... T>
std::int64_t packs_in(std::int64_t n, const T*... data) {
    const bool aligned =
        ((reinterpret_cast<std::uintptr_t>(data) % alignof(Pack<T, width>) == 0) && ...);
    return aligned ? n / width : 0;
}

/// For the loop of `for_each_pack`.
template <int width>
Grid grid_of_packs(std::int64_t packs, std::int64_t n) {
    return grid_for(n, packs > 0 ? width : 1);
}

template <int width, typename T>
__device__ __forceinline__ Pack<T, width> load_pack(const T* from) {
    return *reinterpret_cast<const Pack<T, width>*>(from);
}
/// In as few accesses as the alignment of a pack allows. They are asked for by name: the compiler
/// stores values that have met after a branch one by one, and a store of 2 bytes costs the cache as
/// much as one of 16.
template <int width, typename T>
__device__ __forceinline__ void store_pack(T* to, const Pack<T, width>& pack) {
#ifdef __CUDA_ARCH__
    constexpr std::size_t bytes = sizeof(Pack<T, width>);
    if constexpr (bytes % 16 == 0) {
        struct Words {
            uint4 at[bytes / 16];
        };
        const auto words = std::bit_cast<Words>(pack);
        for (std::size_t i = 0; i < bytes / 16; ++i)
            __stwb(reinterpret_cast<uint4*>(to) + i, words.at[i]);
        return;
    } else if constexpr (bytes == 8 && width > 1) {
        __stwb(reinterpret_cast<uint2*>(to), std::bit_cast<uint2>(pack));
        return;
    } else if constexpr (bytes == 4 && width > 1) {
        __stwb(reinterpret_cast<unsigned*>(to), std::bit_cast<unsigned>(pack));
        return;
    }
#endif
    *reinterpret_cast<Pack<T, width>*>(to) = pack;
}

/// body(at, width) for every pack, then body(at, 1) for each element after them; the second
/// argument is a constant, so that the same body does both. Together the threads of the grid do all
/// of n.
template <int width, typename Body>
__device__ __forceinline__ void for_each_pack(std::int64_t packs, std::int64_t n,
                                              const Body& body) {
    const std::int64_t first = grid_thread(), stride = grid_threads();
    for (std::int64_t i = first; i < packs; i += stride)
        body(i * width, std::integral_constant<int, width>{});
    for (std::int64_t i = packs * width + first; i < n; i += stride)
        body(i, std::integral_constant<int, 1>{});
}

/// y[i] = f(x[i])
template <int width, typename To, typename From, typename F>
__device__ __forceinline__ void map_packs(To* y, const From* x, std::int64_t packs, std::int64_t n,
                                          const F& f) {
    for_each_pack<width>(packs, n, [&](std::int64_t at, auto wide) {
        const auto in = load_pack<wide()>(x + at);
        Pack<To, wide()> out;
#pragma unroll
        for (int k = 0; k < wide(); ++k) out.at[k] = f(in.at[k]);
        store_pack(y + at, out);
    });
}

/// An operand read at every i: an array, or its one element.
template <typename T>
struct Operand {
    const T* data;
    bool one;

    template <int width>
    __device__ __forceinline__ Pack<T, width> load(std::int64_t at) const {
        if (!one) return load_pack<width>(data + at);
        Pack<T, width> same;
        const T value = *data;
#pragma unroll
        for (int k = 0; k < width; ++k) same.at[k] = value;
        return same;
    }
    /// The data as packs_in takes it.
    const T* packed() const { return one ? nullptr : data; }
};

template <typename T>
Operand<T> operand(ConstArray x) {
    return {static_cast<const T*>(x.data), x.size == 1};
}

/// y[i] = f(a[i], b[i])
template <int width, typename To, typename From, typename F>
__device__ __forceinline__ void map_packs(To* y, const Operand<From>& a, const Operand<From>& b,
                                          std::int64_t packs, std::int64_t n, const F& f) {
    for_each_pack<width>(packs, n, [&](std::int64_t at, auto wide) {
        const auto left = a.template load<wide()>(at);
        const auto right = b.template load<wide()>(at);
        Pack<To, wide()> out;
#pragma unroll
        for (int k = 0; k < wide(); ++k) out.at[k] = f(left.at[k], right.at[k]);
        store_pack(y + at, out);
    });
}

}  // namespace kernels::cuda
