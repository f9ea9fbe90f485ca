#include "cpu/batch_norm_rows.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/batch_norm_rows.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/loops-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

constexpr int vectors = 4;  ///< of channels that one pass over a block of rows keeps in registers

/// The four vectors of one row, the lanes beyond `width` 0.
template <class T>
HWY_INLINE void load_row(VF (&v)[vectors], const T* p, std::int64_t width) {
    const std::int64_t lanes = lane_count();
    for (int k = 0; k < vectors; ++k) {
        const std::int64_t left = width - k * lanes;
        v[k] = left >= lanes ? load(p + k * lanes)
               : left > 0    ? load_part(p + k * lanes, static_cast<std::size_t>(left))
                             : hn::Zero(DF());
    }
}

HWY_INLINE void clear(VF (&v)[vectors]) {
    for (VF& lane : v) lane = hn::Zero(DF());
}

/// Means and sums of squared deviations of `rows` <= 128 rows: the second pass finds the rows in
/// the cache, and no cancellation can happen.
template <class T>
void block_moments(double* mean, double* squares, const T* x, std::int64_t rows,
                   std::int64_t channels, std::int64_t width) {
    VF v[vectors], sum[vectors], middle[vectors];
    clear(sum);
    for (std::int64_t r = 0; r < rows; ++r) {
        load_row(v, x + r * channels, width);
        for (int k = 0; k < vectors; ++k) sum[k] = hn::Add(sum[k], v[k]);
    }
    const VF count = hn::Set(DF(), static_cast<float>(rows));
    for (int k = 0; k < vectors; ++k) middle[k] = hn::Div(sum[k], count);
    clear(sum);
    for (std::int64_t r = 0; r < rows; ++r) {
        load_row(v, x + r * channels, width);
        for (int k = 0; k < vectors; ++k) {
            const VF d = hn::Sub(v[k], middle[k]);
            sum[k] = hn::MulAdd(d, d, sum[k]);
        }
    }
    HWY_ALIGN float lane[2][vectors * HWY_MAX_BYTES / sizeof(float)];
    for (int k = 0; k < vectors; ++k) {
        hn::Store(middle[k], DF(), lane[0] + k * lane_count());
        hn::Store(sum[k], DF(), lane[1] + k * lane_count());
    }
    for (std::int64_t c = 0; c < width; ++c) {
        mean[c] = static_cast<double>(lane[0][c]);
        squares[c] = static_cast<double>(lane[1][c]);
    }
}

/// Moments of the rows [begin, end): (channels) means, then (channels) sums of squared deviations.
void moments_of(double* result, ConstArray x, std::int64_t channels, std::int64_t begin,
                std::int64_t end) {
    const std::int64_t tile = vectors * lane_count();
    with_vector_type(x.dtype, [&](auto type) {
        using T = decltype(type);
        double mean[vectors * HWY_MAX_BYTES / sizeof(float)];
        double squares[vectors * HWY_MAX_BYTES / sizeof(float)];
        std::fill_n(result, 2 * channels, 0.0);
        for (std::int64_t row = begin; row < end; row += 128) {
            const std::int64_t rows = std::min<std::int64_t>(128, end - row);
            for (std::int64_t c = 0; c < channels; c += tile) {
                const std::int64_t width = std::min(tile, channels - c);
                block_moments(mean, squares, static_cast<const T*>(x.data) + row * channels + c,
                              rows, channels, width);
                join_moments(result + c, result + channels + c, mean, squares, width, row - begin,
                             rows);
            }
        }
    });
}

template <class T, class F>
HWY_INLINE void for_each_row_vector(T* y, std::int64_t channels, std::int64_t begin,
                                    std::int64_t end, const F& f) {
    const std::int64_t lanes = lane_count();
    for (std::int64_t row = begin; row < end; ++row)
        for (std::int64_t c = 0; c < channels; c += lanes)
            store_part_or_all(f(row * channels + c, c, channels - c), y + row * channels + c,
                              channels - c);
}

template <class T>
HWY_INLINE VF load_up_to(const T* p, std::int64_t n) {
    return n >= lane_count() ? load(p) : load_part(p, static_cast<std::size_t>(n));
}

template <class T>
void normalize_rows(T* y, const T* x, const T* residual, bool relu, const Affine& affine,
                    std::int64_t channels, std::int64_t begin, std::int64_t end) {
    const auto value = [&](std::int64_t i, std::int64_t c, std::int64_t left) HWY_ATTR {
        const VF centred = hn::Sub(load_up_to(x + i, left), load_up_to(affine.mean + c, left));
        return hn::MulAdd(centred, load_up_to(affine.factor + c, left),
                          load_up_to(affine.shift + c, left));
    };
    using I = std::int64_t;
    if (residual == nullptr && !relu) {
        for_each_row_vector(y, channels, begin, end, value);
    } else if (residual == nullptr) {
        for_each_row_vector(y, channels, begin, end,
                            [&](I i, I c, I left) HWY_ATTR { return relu_of(value(i, c, left)); });
    } else {
        for_each_row_vector(y, channels, begin, end, [&](I i, I c, I left) HWY_ATTR {
            const VF sum = hn::Add(value(i, c, left), load_up_to(residual + i, left));
            return relu ? relu_of(sum) : sum;
        });
    }
}

void normalize_of(Array y, ConstArray x, ConstArray residual, bool relu, const Affine& affine,
                  std::int64_t channels, std::int64_t begin, std::int64_t end) {
    with_vector_type(x.dtype, [&](auto type) {
        using T = decltype(type);
        normalize_rows(static_cast<T*>(y.data), static_cast<const T*>(x.data),
                       static_cast<const T*>(residual.data), relu, affine, channels, begin, end);
    });
}

/// The gradient that reaches the normalisation: dy, or 0 where relu gave 0.
template <class T>
HWY_INLINE VF masked_gradient(const T* dy, const T* y, std::int64_t i, std::int64_t left) {
    const VF g = load_up_to(dy + i, left);
    if (y == nullptr) return g;
    return hn::IfThenElseZero(hn::Gt(load_up_to(y + i, left), hn::Zero(DF())), g);
}

/// Sums of g and of g * xhat over at most 128 rows, added to result: (channels) and (channels).
template <class T>
void add_block_sums(double* sum_g, double* sum_gx, const Gradients& in, std::int64_t channels,
                    std::int64_t first, std::int64_t rows, std::int64_t col, std::int64_t width) {
    const std::int64_t lanes = lane_count();
    const auto* dy = static_cast<const T*>(in.dy.data);
    const auto* x = static_cast<const T*>(in.x.data);
    const auto* y = static_cast<const T*>(in.y.data);
    for (std::int64_t c = col; c < col + width; c += lanes) {
        const std::int64_t left = col + width - c;
        const VF mean = load_up_to(in.mean + c, left);
        VF g_sum = hn::Zero(DF()), gx_sum = hn::Zero(DF());
        for (std::int64_t r = first; r < first + rows; ++r) {
            const std::int64_t i = r * channels + c;
            const VF g = masked_gradient(dy, y, i, left);
            g_sum = hn::Add(g_sum, g);
            gx_sum = hn::MulAdd(g, hn::Sub(load_up_to(x + i, left), mean), gx_sum);
        }
        gx_sum = hn::Mul(gx_sum, load_up_to(in.invstd + c, left));
        HWY_ALIGN float lane[2][HWY_MAX_BYTES / sizeof(float)];
        hn::Store(g_sum, DF(), lane[0]);
        hn::Store(gx_sum, DF(), lane[1]);
        for (std::int64_t k = 0; k < std::min(lanes, left); ++k) {
            sum_g[c + k] += static_cast<double>(lane[0][k]);
            sum_gx[c + k] += static_cast<double>(lane[1][k]);
        }
    }
}

void gradient_sums_of(double* result, const Gradients& in, std::int64_t channels,
                      std::int64_t begin, std::int64_t end) {
    const std::int64_t tile = vectors * lane_count();
    std::fill_n(result, 2 * channels, 0.0);
    with_vector_type(in.x.dtype, [&](auto type) {
        using T = decltype(type);
        for (std::int64_t row = begin; row < end; row += 128)
            for (std::int64_t c = 0; c < channels; c += tile)
                add_block_sums<T>(result, result + channels, in, channels, row,
                                  std::min<std::int64_t>(128, end - row), c,
                                  std::min(tile, channels - c));
    });
}

void gradient_rows_of(Array dx, Array dresidual, const Gradients& in, const DxFactors& f,
                      std::int64_t channels, std::int64_t begin, std::int64_t end) {
    with_vector_type(in.x.dtype, [&](auto type) {
        using T = decltype(type);
        const auto* dy = static_cast<const T*>(in.dy.data);
        const auto* x = static_cast<const T*>(in.x.data);
        const auto* y = static_cast<const T*>(in.y.data);
        auto* residual = static_cast<T*>(dresidual.data);
        using I = std::int64_t;
        for_each_row_vector(
            static_cast<T*>(dx.data), channels, begin, end, [&](I i, I c, I left) HWY_ATTR {
                const VF g = masked_gradient(dy, y, i, left);
                const VF centred = hn::Sub(load_up_to(x + i, left), load_up_to(in.mean + c, left));
                if (residual != nullptr) store_part_or_all(g, residual + i, left);
                const VF rest = hn::MulAdd(centred, load_up_to(f.slope + c, left),
                                           load_up_to(f.offset + c, left));
                return hn::MulAdd(g, load_up_to(f.scale + c, left), rest);
            });
    });
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {
namespace {
HWY_EXPORT(moments_of);
HWY_EXPORT(normalize_of);
HWY_EXPORT(gradient_sums_of);
HWY_EXPORT(gradient_rows_of);
}  // namespace

void join_moments(double* mean, double* squares, const double* more_mean,
                  const double* more_squares, std::int64_t channels, std::int64_t before,
                  std::int64_t rows) {
    const double share = static_cast<double>(rows) / static_cast<double>(before + rows);
    for (std::int64_t c = 0; c < channels; ++c) {
        const double shift = more_mean[c] - mean[c];
        mean[c] += shift * share;
        squares[c] += more_squares[c] + shift * shift * share * static_cast<double>(before);
    }
}

void moments(double* result, ConstArray x, std::int64_t channels, std::int64_t begin,
             std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(moments_of)(result, x, channels, begin, end);
}

void normalize(Array y, ConstArray x, ConstArray residual, bool relu, const Affine& affine,
               std::int64_t channels, std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(normalize_of)(y, x, residual, relu, affine, channels, begin, end);
}

void gradient_sums(double* result, const Gradients& in, std::int64_t channels, std::int64_t begin,
                   std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(gradient_sums_of)(result, in, channels, begin, end);
}

void gradient_rows(Array dx, Array dresidual, const Gradients& in, const DxFactors& factors,
                   std::int64_t channels, std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(gradient_rows_of)(dx, dresidual, in, factors, channels, begin, end);
}

}  // namespace kernels::cpu
#endif
