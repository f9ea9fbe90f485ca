#include "cpu/batch_norm_rows.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/batch_norm_rows.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/formula-inl.h"
#include "cpu/loops-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

#define HALFTONE_FORMULA HWY_INLINE
#include "cpu/norm_formulas.inc"
#undef HALFTONE_FORMULA

constexpr std::int64_t block_rows =
    128;  ///< of one f32 sum; they stay in the cache for a second pass
constexpr std::size_t max_lanes = HWY_MAX_BYTES / sizeof(float);

/// sum[c + k] += v[k] for the first n lanes.
HWY_INLINE void add_lanes(double* sum, VF v, std::int64_t n) {
    HWY_ALIGN float lane[max_lanes];
    hn::Store(v, DF(), lane);
    for (std::int64_t k = 0; k < n; ++k) sum[k] += static_cast<double>(lane[k]);
}

/// Means and sums of squared deviations of V vectors of channels over at most block_rows rows,
/// added to mean and squares. Two passes, so that nothing cancels.
template <int V, class T, class P>
HWY_INLINE void block_moments(double* mean, double* squares, const T* x, std::int64_t rows,
                              std::int64_t channels, P part, std::int64_t width) {
    const std::int64_t lanes = lane_count();
    const VF share = hn::Set(DF(), 1.0f / static_cast<float>(rows));
    VF middle[V], sum[V];
    for (int k = 0; k < V; ++k) sum[k] = hn::Zero(DF());
    for (std::int64_t r = 0; r < rows; ++r)
        for (int k = 0; k < V; ++k)
            sum[k] = hn::Add(sum[k], part.load(x + r * channels + k * lanes));
    for (int k = 0; k < V; ++k) {
        middle[k] = hn::Mul(sum[k], share);
        sum[k] = hn::Zero(DF());
    }
    for (std::int64_t r = 0; r < rows; ++r) {
        for (int k = 0; k < V; ++k) {
            const VF d = hn::Sub(part.load(x + r * channels + k * lanes), middle[k]);
            sum[k] = hn::MulAdd(d, d, sum[k]);
        }
    }
    for (int k = 0; k < V; ++k) {
        add_lanes(mean + k * lanes, middle[k], std::min(lanes, width - k * lanes));
        add_lanes(squares + k * lanes, sum[k], std::min(lanes, width - k * lanes));
    }
}

template <class T>
void block_row_moments(double* mean, double* squares, const T* x, std::int64_t rows,
                       std::int64_t channels) {
    const std::int64_t lanes = lane_count();
    std::fill_n(mean, channels, 0.0);
    std::fill_n(squares, channels, 0.0);
    std::int64_t c = 0;
    for (; c + 4 * lanes <= channels; c += 4 * lanes)
        block_moments<4>(mean + c, squares + c, x + c, rows, channels, Whole(), 4 * lanes);
    for_each_vector(channels - c, [&](std::int64_t i, auto part) HWY_ATTR {
        block_moments<1>(mean + c + i, squares + c + i, x + c + i, rows, channels, part,
                         channels - c - i);
    });
}

void moments_of(double* result, ConstArray x, std::int64_t channels, std::int64_t begin,
                std::int64_t end) {
    with_vector_type(x.dtype, [&]<typename T>(T) {
        const T* data = static_cast<const T*>(x.data);
        const std::int64_t first = std::min(block_rows, end - begin);
        block_row_moments(result, result + channels, data + begin * channels, first, channels);
        thread_local std::vector<double> more;
        more.resize(static_cast<std::size_t>(2 * channels));
        for (std::int64_t row = begin + first; row < end; row += block_rows) {
            const std::int64_t rows = std::min(block_rows, end - row);
            block_row_moments(more.data(), more.data() + channels, data + row * channels, rows,
                              channels);
            join_moments(result, result + channels, more.data(), more.data() + channels, channels,
                         row - begin, rows);
        }
    });
}

/// f(offset of the row, channel, part) for every vector of the rows [begin, end).
template <class F>
HWY_INLINE void for_each_row_vector(std::int64_t channels, std::int64_t begin, std::int64_t end,
                                    const F& f) {
    for (std::int64_t row = begin; row < end; ++row)
        for_each_vector(
            channels, [&](std::int64_t c, auto part) HWY_ATTR { f(row * channels + c, c, part); });
}

/// finish(value, index, part) gives what is stored of the normalised value.
template <class T, class F>
HWY_INLINE void normalize_rows(T* y, const T* x, const Affine& affine, std::int64_t channels,
                               std::int64_t begin, std::int64_t end, const F& finish) {
    for_each_row_vector(
        channels, begin, end, [&](std::int64_t i, std::int64_t c, auto part) HWY_ATTR {
            const VF value =
                batch_normalized(part.load(x + i), part.load(affine.mean + c),
                                 part.load(affine.factor + c), part.load(affine.shift + c));
            part.store(finish(value, i, part), y + i);
        });
}

void normalize_of(Array y, ConstArray x, ConstArray residual, bool relu, const Affine& affine,
                  std::int64_t channels, std::int64_t begin, std::int64_t end) {
    with_vector_type(x.dtype, [&]<typename T>(T) {
        T* to = static_cast<T*>(y.data);
        const T* from = static_cast<const T*>(x.data);
        const T* added = static_cast<const T*>(residual.data);
        const auto run = [&](const auto& finish) HWY_ATTR {
            normalize_rows(to, from, affine, channels, begin, end, finish);
        };
        using I = std::int64_t;
        if (added == nullptr && !relu)
            run([](VF v, I, auto) HWY_ATTR { return v; });
        else if (added == nullptr)
            run([](VF v, I, auto) HWY_ATTR { return relu_of(v); });
        else if (!relu)
            run([&](VF v, I i, auto part) HWY_ATTR { return hn::Add(v, part.load(added + i)); });
        else
            run([&](VF v, I i, auto part)
                    HWY_ATTR { return relu_of(hn::Add(v, part.load(added + i))); });
    });
}

/// Where relu passes a gradient on: everywhere, where the saved y says so, or where y computed
/// again from x does.
enum class Mask { none, saved, recomputed };

/// The largest value that a y of type T is 0 for: half of its smallest subnormal, the tie to even.
template <class T>
constexpr float rounds_to_zero = 0;
template <>
constexpr float rounds_to_zero<Half> = 0x1p-25f;
template <>
constexpr float rounds_to_zero<BFloat16> = 0x1p-134f;

/// The gradients as typed memory.
template <class T, Mask mask>
struct Reader {
    const T* dy;
    const T* x;
    const T* y;
    const float* mean;
    Affine forward;

    /// g of one vector of d.
    template <class P>
    HWY_INLINE VF masked(VF d, std::int64_t i, std::int64_t c, P part) const {
        if constexpr (mask == Mask::none) return d;
        if constexpr (mask == Mask::saved)
            return hn::IfThenZeroElse(hn::Le(part.load(y + i), hn::Zero(DF())), d);
        const VF again =
            batch_normalized(part.load(x + i), part.load(forward.mean + c),
                             part.load(forward.factor + c), part.load(forward.shift + c));
        return hn::IfThenZeroElse(hn::Le(again, hn::Set(DF(), rounds_to_zero<T>)), d);
    }
    template <class P>
    HWY_INLINE VF gradient(std::int64_t i, std::int64_t c, P part) const {
        return masked(part.load(dy + i), i, c, part);
    }
    template <class P>
    HWY_INLINE VF centred(std::int64_t i, std::int64_t c, P part) const {
        return hn::Sub(part.load(x + i), part.load(mean + c));
    }
};

/// f(reader) of the right type.
template <class F>
void with_reader(const Gradients& in, const F& f) {
    with_vector_type(in.x.dtype, [&]<typename T>(T) {
        const auto* dy = static_cast<const T*>(in.dy.data);
        const auto* x = static_cast<const T*>(in.x.data);
        const auto* y = static_cast<const T*>(in.y.data);
        if (in.forward != nullptr)
            f(Reader<T, Mask::recomputed>{dy, x, y, in.mean, *in.forward});
        else if (y != nullptr)
            f(Reader<T, Mask::saved>{dy, x, y, in.mean, {}});
        else
            f(Reader<T, Mask::none>{dy, x, y, in.mean, {}});
    });
}

/// Two gradients of one tensor, whose rounded sum is written to memory.
template <class T>
struct Added {
    const T* addend;
    T* sum;
    template <class P>
    HWY_INLINE VF operator()(VF d, std::int64_t i, P part) const {
        part.store(hn::Add(d, part.load(addend + i)), sum + i);
        return part.load(sum + i);
    }
};
struct Alone {
    template <class P>
    HWY_INLINE VF operator()(VF d, std::int64_t, P) const {
        return d;
    }
};

/// V vectors of channels over at most block_rows rows.
template <int V, class R, class A, class P>
HWY_INLINE void add_block_sums(double* sum_g, double* sum_gx, const R& reader, const A& joined,
                               const float* invstd, std::int64_t channels, std::int64_t first,
                               std::int64_t rows, std::int64_t c, P part) {
    const std::int64_t lanes = lane_count();
    VF g_sum[V], gx_sum[V];
    for (int k = 0; k < V; ++k) g_sum[k] = gx_sum[k] = hn::Zero(DF());
    for (std::int64_t r = first; r < first + rows; ++r) {
        for (int k = 0; k < V; ++k) {
            const std::int64_t at = c + k * lanes, i = r * channels + at;
            const VF d = joined(part.load(reader.dy + i), i, part);
            const VF g = reader.masked(d, i, at, part);
            g_sum[k] = hn::Add(g_sum[k], g);
            gx_sum[k] = hn::MulAdd(g, reader.centred(i, at, part), gx_sum[k]);
        }
    }
    for (int k = 0; k < V; ++k) {
        const std::int64_t at = c + k * lanes, n = std::min(lanes, channels - at);
        add_lanes(sum_g + at, g_sum[k], n);
        add_lanes(sum_gx + at, hn::Mul(gx_sum[k], part.load(invstd + at)), n);
    }
}

template <class R, class A>
void row_sums(double* result, const R& reader, const A& joined, const float* invstd,
              std::int64_t channels, std::int64_t begin, std::int64_t end) {
    constexpr int several = 4;  // a row's neighbouring vectors, so that memory is read in order
    const std::int64_t width = several * lane_count();
    for (std::int64_t row = begin; row < end; row += block_rows) {
        const std::int64_t rows = std::min(block_rows, end - row);
        std::int64_t c = 0;
        for (; c + width <= channels; c += width)
            add_block_sums<several>(result, result + channels, reader, joined, invstd, channels,
                                    row, rows, c, Whole());
        for_each_vector(channels - c, [&](std::int64_t i, auto part) HWY_ATTR {
            add_block_sums<1>(result, result + channels, reader, joined, invstd, channels, row,
                              rows, c + i, part);
        });
    }
}

void gradient_sums_of(double* result, const Gradients& in, std::int64_t channels,
                      std::int64_t begin, std::int64_t end) {
    std::fill_n(result, 2 * channels, 0.0);
    with_reader(in, [&](const auto& reader) {
        using T = std::remove_cvref_t<decltype(*reader.dy)>;
        const auto* addend = static_cast<const T*>(in.addend.data);
        if (addend == nullptr) {
            row_sums(result, reader, Alone(), in.invstd, channels, begin, end);
            return;
        }
        const Added<T> added{addend, static_cast<T*>(in.sum.data)};
        row_sums(result, reader, added, in.invstd, channels, begin, end);
    });
}

void gradient_rows_of(Array dx, Array dresidual, const Gradients& in, const DxFactors& f,
                      std::int64_t channels, std::int64_t begin, std::int64_t end) {
    with_vector_type(in.x.dtype, [&]<typename T>(T) {
        T* to = static_cast<T*>(dx.data);
        T* residual = static_cast<T*>(dresidual.data);
        with_reader(in, [&](const auto& reader) {
            for_each_row_vector(
                channels, begin, end, [&](std::int64_t i, std::int64_t c, auto part) HWY_ATTR {
                    const VF g = reader.gradient(i, c, part);
                    VF rest = hn::Zero(DF());
                    if (f.slope != nullptr)
                        rest = hn::MulAdd(reader.centred(i, c, part), part.load(f.slope + c),
                                          part.load(f.offset + c));
                    if (residual != nullptr) part.store(g, residual + i);
                    part.store(hn::MulAdd(g, part.load(f.scale + c), rest), to + i);
                });
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
