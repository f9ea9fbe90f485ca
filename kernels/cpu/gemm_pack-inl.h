// Bringing operands into the form the tiles read, and tiles to where they belong, for the code of
// one Highway target. Include after hwy/highway.h in a file that goes through foreach_target.

#if defined(KERNELS_CPU_GEMM_PACK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNELS_CPU_GEMM_PACK_INL_H
#undef KERNELS_CPU_GEMM_PACK_INL_H
#else
#define KERNELS_CPU_GEMM_PACK_INL_H
#endif

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "cpu/convert-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {

using DD = hn::ScalableTag<double>;

HWY_INLINE hn::Vec<DD> load(const double* p) { return hn::LoadU(DD(), p); }
HWY_INLINE void store(hn::Vec<DD> v, double* p) { hn::StoreU(v, DD(), p); }
HWY_INLINE hn::Vec<DD> load_part(const double* p, std::size_t n) {
    HWY_ALIGN double buffer[HWY_MAX_BYTES / sizeof(double)] = {};
    for (std::size_t i = 0; i < n; ++i) buffer[i] = p[i];
    return load(buffer);
}
HWY_INLINE void store_part(hn::Vec<DD> v, double* p, std::size_t n) {
    HWY_ALIGN double buffer[HWY_MAX_BYTES / sizeof(double)];
    store(v, buffer);
    for (std::size_t i = 0; i < n; ++i) p[i] = buffer[i];
}

/// dst[i] = src[i]: widened exactly, or rounded once.
template <class To, class From>
void convert_run(To* HWY_RESTRICT dst, const From* HWY_RESTRICT src, std::int64_t n) {
    using Wide = std::conditional_t<(sizeof(To) > sizeof(From)), To, From>;
    using Computed = std::conditional_t<(sizeof(Wide) == 2), float, Wide>;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<Computed>()));
    std::int64_t i = 0;
    for (; i + 4 * lanes <= n; i += 4 * lanes) {
        const auto v0 = load(src + i), v1 = load(src + i + lanes);
        const auto v2 = load(src + i + 2 * lanes), v3 = load(src + i + 3 * lanes);
        store(v0, dst + i);
        store(v1, dst + i + lanes);
        store(v2, dst + i + 2 * lanes);
        store(v3, dst + i + 3 * lanes);
    }
    for (; i + lanes <= n; i += lanes) store(load(src + i), dst + i);
    if (i < n) {
        const auto rest = static_cast<std::size_t>(n - i);
        store_part(load_part(src + i, rest), dst + i, rest);
    }
}

#if HWY_TARGET != HWY_SCALAR
/// Four columns of four rows, in every block of 16 bytes: block i of column[j] is column 4 i + j.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void transpose_blocks(D d, V (&column)[4], const float* src, std::int64_t src_ld) {
    const hn::RepartitionToWide<D> d64;
    const V r0 = hn::LoadU(d, src), r1 = hn::LoadU(d, src + src_ld);
    const V r2 = hn::LoadU(d, src + 2 * src_ld), r3 = hn::LoadU(d, src + 3 * src_ld);
    const auto a = hn::BitCast(d64, hn::InterleaveLower(d, r0, r1));
    const auto b = hn::BitCast(d64, hn::InterleaveLower(d, r2, r3));
    const auto e = hn::BitCast(d64, hn::InterleaveUpper(d, r0, r1));
    const auto f = hn::BitCast(d64, hn::InterleaveUpper(d, r2, r3));
    column[0] = hn::BitCast(d, hn::InterleaveLower(d64, a, b));
    column[1] = hn::BitCast(d, hn::InterleaveUpper(d64, a, b));
    column[2] = hn::BitCast(d, hn::InterleaveLower(d64, e, f));
    column[3] = hn::BitCast(d, hn::InterleaveUpper(d64, e, f));
}

HWY_INLINE void transpose_4(float* dst, std::int64_t dst_ld, const float* src,
                            std::int64_t src_ld) {
    const hn::CappedTag<float, 4> d;
    hn::Vec<decltype(d)> column[4];
    transpose_blocks(d, column, src, src_ld);
    for (int j = 0; j < 4; ++j) hn::StoreU(column[j], d, dst + j * dst_ld);
}

/// Columns from `col` on of `tall` rows, a multiple of four.
HWY_INLINE void transpose_rest(float* HWY_RESTRICT dst, std::int64_t dst_ld,
                               const float* HWY_RESTRICT src, std::int64_t src_ld,
                               std::int64_t tall, std::int64_t col, std::int64_t cols) {
    for (; col + 4 <= cols; col += 4)
        for (std::int64_t i = 0; i < tall; i += 4)
            transpose_4(dst + col * dst_ld + i, dst_ld, src + i * src_ld + col, src_ld);
    for (; col < cols; ++col)
        for (std::int64_t i = 0; i < tall; ++i) dst[col * dst_ld + i] = src[i * src_ld + col];
}
#endif

#if HWY_TARGET == HWY_AVX3
/// 16 x 16: four times four rows, then their blocks of 16 bytes.
HWY_INLINE void transpose_16(float* HWY_RESTRICT dst, std::int64_t dst_ld,
                             const float* HWY_RESTRICT src, std::int64_t src_ld) {
    const DF d;
    VF four[4][4];
#pragma GCC unroll 4
    for (int g = 0; g < 4; ++g) transpose_blocks(d, four[g], src + 4 * g * src_ld, src_ld);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
        const auto put = [&](int i, VF even, VF odd) HWY_ATTR {
            hn::StoreU(hn::OddEvenBlocks(hn::SwapAdjacentBlocks(odd), even), d,
                       dst + (4 * i + j) * dst_ld);
            hn::StoreU(hn::OddEvenBlocks(odd, hn::SwapAdjacentBlocks(even)), d,
                       dst + (4 * (i + 1) + j) * dst_ld);
        };
        put(0, hn::ConcatLowerLower(d, four[2][j], four[0][j]),
            hn::ConcatLowerLower(d, four[3][j], four[1][j]));
        put(2, hn::ConcatUpperUpper(d, four[2][j], four[0][j]),
            hn::ConcatUpperUpper(d, four[3][j], four[1][j]));
    }
}
#endif

/// dst (cols, rows with leading dimension dst_ld) = transpose of src (rows, cols, leading dimension
/// src_ld).
template <class T>
void transpose(T* HWY_RESTRICT dst, std::int64_t dst_ld, const T* HWY_RESTRICT src,
               std::int64_t src_ld, std::int64_t rows, std::int64_t cols) {
    std::int64_t row = 0;
#if HWY_TARGET != HWY_SCALAR
    if constexpr (std::is_same_v<T, float>) {
#if HWY_TARGET == HWY_AVX3
        for (; row + 16 <= rows; row += 16) {
            std::int64_t col = 0;
            for (; col + 16 <= cols; col += 16)
                transpose_16(dst + col * dst_ld + row, dst_ld, src + row * src_ld + col, src_ld);
            transpose_rest(dst + row, dst_ld, src + row * src_ld, src_ld, 16, col, cols);
        }
#endif
        for (; row + 4 <= rows; row += 4)
            transpose_rest(dst + row, dst_ld, src + row * src_ld, src_ld, 4, 0, cols);
    }
#endif
    for (; row < rows; ++row)
        for (std::int64_t col = 0; col < cols; ++col)
            dst[col * dst_ld + row] = src[row * src_ld + col];
}

/// Stores a tile's sums: c = max(alpha * sum + beta * c + bias, 0 if relu), rounded once.
template <class T, class R>
struct Store {
    T alpha = 1, beta = 0;
    const R* bias = nullptr;  ///< of the first column of c
    bool relu = false;
};

template <class T, class R>
HWY_INLINE auto finished(hn::Vec<hn::ScalableTag<T>> v, const R* c, std::int64_t j, std::size_t n,
                         bool whole, const Store<T, R>& how) {
    const hn::ScalableTag<T> d;
    if (how.alpha != T{1}) v = hn::Mul(v, hn::Set(d, how.alpha));
    if (how.beta != T{0})
        v = hn::MulAdd(hn::Set(d, how.beta), whole ? load(c + j) : load_part(c + j, n), v);
    if (how.bias) v = hn::Add(v, whole ? load(how.bias + j) : load_part(how.bias + j, n));
    // Not Max: a NaN passes.
    if (how.relu) v = hn::IfThenZeroElse(hn::Le(v, hn::Zero(d)), v);
    return v;
}

/// c (rows, cols, leading dimension ldc) from sums (rows, leading dimension sums_ld), which may be
/// read one vector beyond its last row. how.bias is of c's first column.
template <class T, class R>
void store_tile(R* c, std::int64_t ldc, const T* sums, std::int64_t sums_ld, std::int64_t rows,
                std::int64_t cols, const Store<T, R>& how) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<T>()));
    for (std::int64_t i = 0; i < rows; ++i, c += ldc, sums += sums_ld) {
        std::int64_t j = 0;
        for (; j + lanes <= cols; j += lanes)
            store(finished(load(sums + j), c, j, 0, true, how), c + j);
        if (j < cols) {
            const auto rest = static_cast<std::size_t>(cols - j);
            store_part(finished(load(sums + j), c, j, rest, false, how), c + j, rest);
        }
    }
}

}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
