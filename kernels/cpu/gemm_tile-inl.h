// The inner loop of our own products and convolutions, for the code of one Highway target. Include
// after hwy/highway.h in a file that goes through foreach_target.
//
//   out[i, j] = sum over (o, q, p) of a[i * a_row + o * a_outer + q * a_mid + p * a_inner]
//                                   * b[step * b_step + o * b_gap + mids * b_mid_gap + j],
//   step = the count of (o, q, p) so far, mids that of (o, q)
//
// with a tile of out in registers. Three loops let a row of `a` be a convolution's window read in
// place; a matrix product uses the innermost one. Tiles of whole vectors may read b and write out
// in 16 bits: b is widened exactly, and a sum is rounded once.

#if defined(KERNELS_CPU_GEMM_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNELS_CPU_GEMM_TILE_INL_H
#undef KERNELS_CPU_GEMM_TILE_INL_H
#else
#define KERNELS_CPU_GEMM_TILE_INL_H
#endif

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "cpu/convert-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

struct TileSum {
    std::int64_t a_row;
    std::int64_t outer, mid, inner;
    std::int64_t a_outer, a_mid, a_inner;
    std::int64_t b_step;
    std::int64_t b_gap = 0;      ///< elements of b that are left out after each outer step
    std::int64_t b_mid_gap = 0;  ///< after each step of the middle loop
    std::int64_t out_step = 0;   ///< elements from one row of out to the next; 0: dense
    const void* bias = nullptr;  ///< added to each row of out, if there is one; of out's type
    bool relu = false;           ///< what is not above 0 becomes 0, after the bias; a NaN stays
};

// Twelve rows of two vectors, two vectors of b and one of a use 27 of AVX-512's 32 registers; the
// other targets have 16.
#if HWY_TARGET == HWY_AVX3
constexpr int max_tile_rows = 12;
#else
constexpr int max_tile_rows = 6;
#endif

template <class T>
constexpr std::int64_t lanes_of() {
    return static_cast<std::int64_t>(hn::MaxLanes(hn::ScalableTag<T>()));
}
/// Columns of a full panel of b.
template <class T>
constexpr std::int64_t panel_columns() {
    return 2 * lanes_of<T>();
}
/// Columns that the tile for `columns` of a panel computes: two vectors, one or half of one.
template <class T>
constexpr std::int64_t tile_columns(std::int64_t columns) {
    constexpr std::int64_t lanes = lanes_of<T>();
    if (columns > lanes) return 2 * lanes;
    return columns > lanes / 2 || lanes * sizeof(T) <= 16 ? lanes : lanes / 2;
}

/// Vectors of D from and to memory; in another type than D's only whole ones.
template <class D, class S>
HWY_INLINE hn::Vec<D> load_as(D d, const S* p) {
    if constexpr (std::is_same_v<S, hn::TFromD<D>>)
        return hn::LoadU(d, p);
    else
        return load(p);
}
template <class D, class R>
HWY_INLINE void store_as(hn::Vec<D> v, D d, R* p) {
    if constexpr (std::is_same_v<R, hn::TFromD<D>>)
        hn::StoreU(v, d, p);
    else
        store(v, p);
}

/// out (rows, vectors * lanes). Rows go in fours, each four from its own base pointer, so
/// that three registers address twelve rows. b holds B, out holds R.
template <class D, int rows, int vectors, class B, class R, class T = hn::TFromD<D>>
void tile(R* HWY_RESTRICT out, const T* a, const B* b, const TileSum& sum) {
    const D d;
    using V = hn::Vec<D>;
    constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
    constexpr int fours = (rows + 3) / 4;
    V acc[rows][vectors];
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; ++v) acc[i][v] = hn::Zero(d);

    const std::int64_t offset[4] = {0, sum.a_row, 2 * sum.a_row, 3 * sum.a_row};
    for (std::int64_t o = 0; o < sum.outer; ++o) {
        for (std::int64_t q = 0; q < sum.mid; ++q) {
            const T* base[fours];
#pragma GCC unroll 4
            for (int g = 0; g < fours; ++g)
                base[g] = a + o * sum.a_outer + q * sum.a_mid + 4 * g * sum.a_row;
            for (std::int64_t p = 0; p < sum.inner; ++p) {
                V column[vectors];
#pragma GCC unroll 2
                for (int v = 0; v < vectors; ++v) column[v] = load_as(d, b + v * lanes);
#pragma GCC unroll 16
                for (int i = 0; i < rows; ++i) {
                    const V row = hn::Set(d, base[i / 4][offset[i % 4]]);
#pragma GCC unroll 2
                    for (int v = 0; v < vectors; ++v)
                        acc[i][v] = hn::MulAdd(row, column[v], acc[i][v]);
                }
#pragma GCC unroll 4
                for (int g = 0; g < fours; ++g) base[g] += sum.a_inner;
                b += sum.b_step;
            }
            b += sum.b_mid_gap;
        }
        b += sum.b_gap;
    }
    if (sum.bias != nullptr) {
#pragma GCC unroll 2
        for (int v = 0; v < vectors; ++v) {
            const V added = load_as(d, static_cast<const R*>(sum.bias) + v * lanes);
#pragma GCC unroll 16
            for (int i = 0; i < rows; ++i) acc[i][v] = hn::Add(acc[i][v], added);
        }
    }
    if (sum.relu) {
        const V zero = hn::Zero(d);
#pragma GCC unroll 16
        for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
            for (int v = 0; v < vectors; ++v)
                acc[i][v] = hn::IfThenZeroElse(hn::Le(acc[i][v], zero), acc[i][v]);
    }
    const std::int64_t out_step = sum.out_step != 0 ? sum.out_step : vectors * lanes;
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i, out += out_step)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; ++v) store_as(acc[i][v], d, out + v * lanes);
}

template <class T, class B, class R>
using Tile = void (*)(R* HWY_RESTRICT, const T*, const B*, const TileSum&);

template <class D, int vectors, class B, class R, int... index>
constexpr auto tiles_by_rows(std::integer_sequence<int, index...>) {
    return std::array<Tile<hn::TFromD<D>, B, R>, sizeof...(index)>{
        &tile<D, index + 1, vectors, B, R>...};
}

/// The tile for 1 ... max_tile_rows rows and 1 ... panel_columns columns; more than half a vector
/// of them if b or out holds another type than T.
template <class T, class B = T, class R = T>
Tile<T, B, R> tile_for(std::int64_t rows, std::int64_t columns) {
    using Rows = std::make_integer_sequence<int, max_tile_rows>;
    using Full = hn::ScalableTag<T>;
    constexpr std::int64_t lanes = lanes_of<T>();
    static constexpr auto two = tiles_by_rows<Full, 2, B, R>(Rows());
    static constexpr auto one = tiles_by_rows<Full, 1, B, R>(Rows());
    const auto row = static_cast<std::size_t>(rows - 1);
    if (columns > lanes) return two[row];
    if constexpr (std::is_same_v<B, T> && std::is_same_v<R, T>) {
        using Half = hn::CappedTag<T, (lanes * sizeof(T) <= 16 ? lanes : lanes / 2)>;
        static constexpr auto half = tiles_by_rows<Half, 1, B, R>(Rows());
        if (tile_columns<T>(columns) != lanes) return half[row];
    }
    return one[row];
}

/// Rows are cut into tiles of nearly equal height: 32 as 11 + 11 + 10, not 12 + 12 + 8.
inline std::int64_t tile_rows(std::int64_t rows) {
    const std::int64_t tiles = (rows + max_tile_rows - 1) / max_tile_rows;
    return (rows + tiles - 1) / tiles;
}

}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
