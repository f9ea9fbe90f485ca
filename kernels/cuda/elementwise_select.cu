#include <cassert>
#include <limits>

#include "cuda/convert.cuh"
#include "cuda/pack.cuh"
#include "cuda/raw.h"
#include "kernels/elementwise.h"

namespace kernels::cuda {
namespace {

/// Which of the four relations of two numbers count: one kernel for all of CompareOp.
struct Relations {
    bool less, equal, greater, unordered;
};

template <typename Holds>
Relations relations_where(const Holds& holds) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return {holds(0.0, 1.0), holds(0.0, 0.0), holds(1.0, 0.0), holds(nan, nan)};
}

Relations to_relations(CompareOp op) {
    switch (op) {
#define HALFTONE_COMPARE(name, relation) \
    case CompareOp::name:                \
        return relations_where([](double a, double b) { return a relation b; });
#include "kernels/elementwise_functions.inc"
    }
    return {};
}

template <typename T>
__device__ __forceinline__ bool holds(const Relations& relations, T a, T b) {
    if (a < b) return relations.less;
    if (a > b) return relations.greater;
    return a == b ? relations.equal : relations.unordered;
}

/// Key by which two elements are compared.
template <typename T>
__device__ __forceinline__ auto comparable(T v) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
        return widen(v);
    else
        return v;
}

template <typename T>
__global__ void compare_kernel(std::uint8_t* y, Operand<T> a, Operand<T> b, Relations relations,
                               bool truth, std::int64_t packs, std::int64_t n) {
    map_packs<pack_width<T>>(y, a, b, packs, n, [=](T u, T v) {
        if constexpr (sizeof(T) == 1) {
            if (truth) {  // booleans: any byte but 0 is true
                u = u != 0;
                v = v != 0;
            }
        }
        return static_cast<std::uint8_t>(holds(relations, comparable(u), comparable(v)) ? 1 : 0);
    });
}

template <typename T>
__global__ void where_kernel(T* y, const std::uint8_t* condition, Operand<T> a, Operand<T> b,
                             std::int64_t packs, std::int64_t n) {
    for_each_pack<pack_width<T>>(packs, n, [&](std::int64_t at, auto wide) {
        const auto chosen = load_pack<wide()>(condition + at);
        const auto left = a.template load<wide()>(at);
        const auto right = b.template load<wide()>(at);
        Pack<T, wide()> out;
#pragma unroll
        for (int k = 0; k < wide(); ++k) out.at[k] = chosen.at[k] != 0 ? left.at[k] : right.at[k];
        store_pack(y + at, out);
    });
}

}  // namespace

void compare(Array y, ConstArray a, ConstArray b, CompareOp op, Stream stream) {
    assert(a.dtype == b.dtype && y.dtype == DType::boolean);
    if (y.size == 0) return;
    with_stored(a.dtype, [&]<typename T>(T) {
        constexpr int width = pack_width<T>;
        auto* to = static_cast<std::uint8_t*>(y.data);
        const auto left = operand<T>(a), right = operand<T>(b);
        const std::int64_t packs = packs_in<width>(y.size, to, left.packed(), right.packed());
        launch("compare", compare_kernel<T>, grid_of_packs<width>(packs, y.size), stream, to, left,
               right, to_relations(op), a.dtype == DType::boolean, packs, y.size);
    });
}

void where(Array y, ConstArray condition, ConstArray a, ConstArray b, Stream stream) {
    assert(a.dtype == y.dtype && b.dtype == y.dtype && condition.size == y.size);
    if (y.size == 0) return;
    with_raw(y.dtype, [&]<typename T>(T) {
        constexpr int width = pack_width<T>;
        auto* to = static_cast<T*>(y.data);
        const auto* chosen = static_cast<const std::uint8_t*>(condition.data);
        const auto left = operand<T>(a), right = operand<T>(b);
        const std::int64_t packs =
            packs_in<width>(y.size, to, chosen, left.packed(), right.packed());
        launch("where", where_kernel<T>, grid_of_packs<width>(packs, y.size), stream, to, chosen,
               left, right, packs, y.size);
    });
}

}  // namespace kernels::cuda
