#include "cpu/conv2d_paths.h"

#include "cpu/gemm_scratch.h"
#include "kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/conv2d_tiled.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/conv2d_window-inl.h"
#include "cpu/gemm_pack-inl.h"
#include "cpu/gemm_tile-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

/// Weights (K, C / groups, R, S) as the tiles read them: for each group and panel of output
/// channels (R, S, input channels, tile_columns), the columns beyond the last channel zero.
template <class T, class S>
class PackedWeights {
public:
    enum class Use { forward, data_gradient };

    /// data_gradient turns the window round and makes input channels of output channels.
    PackedWeights(const S* w, const Conv2dShape& s, Use use)
        : taps_(s.r * s.s),
          in_(use == Use::forward ? s.c / s.groups : s.k / s.groups),
          out_(use == Use::forward ? s.k / s.groups : s.c / s.groups),
          panels_((out_ + width - 1) / width) {
        const std::int64_t per_group = panels_ * width * taps_ * in_;
        data_ = scratch<T>(Scratch::gemm_b, static_cast<std::size_t>(s.groups * per_group));
        group_size_ = per_group;
        const std::int64_t size = s.k * (s.c / s.groups) * taps_;
        T* wide = scratch<T>(Scratch::operand_b, static_cast<std::size_t>(size));
        convert_run(wide, w, size);
        for (std::int64_t g = 0; g < s.groups; ++g)
            pack_group(data_ + g * per_group, wide + g * out_ * in_ * taps_, use);
    }

    const T* panel(std::int64_t group, std::int64_t index) const {
        return data_ + group * group_size_ + index * width * taps_ * in_;
    }
    std::int64_t panels() const { return panels_; }
    std::int64_t columns(std::int64_t index) const { return std::min(width, out_ - index * width); }

private:
    static constexpr std::int64_t width = panel_columns<T>();

    void pack_group(T* dst, const T* w, Use use) const {
        const bool turned = use == Use::data_gradient;
        const std::int64_t out_stride = turned ? taps_ : in_ * taps_;
        const std::int64_t in_stride = turned ? out_ * taps_ : taps_;
        for (std::int64_t index = 0; index < panels_; ++index, dst += width * taps_ * in_) {
            const std::int64_t cols = columns(index), padded = tile_columns<T>(cols);
            std::fill(dst, dst + padded * taps_ * in_, T{0});
            const T* from = w + index * width * out_stride;
            for (std::int64_t tap = 0; tap < taps_; ++tap) {
                const std::int64_t source = turned ? taps_ - 1 - tap : tap;
                for (std::int64_t i = 0; i < in_; ++i)
                    for (std::int64_t j = 0; j < cols; ++j)
                        dst[(tap * in_ + i) * padded + j] =
                            from[j * out_stride + i * in_stride + source];
            }
        }
    }

    std::int64_t taps_, in_, out_, panels_, group_size_;
    T* data_;
};

/// out = window sums of in with packed weights, over all images.
template <class T, class S>
void correlate(S* out, const S* in, const S* bias, const PackedWeights<T, S>& weights,
               const Window& window) {
    const Bands bands(window, sizeof(T));
    const std::int64_t in_group = window.channels / window.groups;
    const std::int64_t out_group = window.filters / window.groups;
    parallel_for(bands.count(), bands.grain(), [&](std::int64_t begin, std::int64_t end) {
        constexpr std::int64_t width = panel_columns<T>();
        HWY_ALIGN T sums[max_tile_rows * width + width];
        const std::int64_t height = tile_rows(window.out_w);
        for (std::int64_t index = begin; index < end; ++index) {
            const Band band = bands[index];
            const PaddedBand<T> padded = copy_padded<T>(in, window, band);
            S* rows =
                out + (band.image * window.out_h + band.first) * window.out_w * window.filters;
            for (std::int64_t g = 0; g < window.groups; ++g)
                for (std::int64_t panel = 0; panel < weights.panels(); ++panel) {
                    const std::int64_t cols = weights.columns(panel);
                    const std::int64_t first = g * out_group + panel * width;
                    const TileSum sum = window_sum(window, padded, tile_columns<T>(cols));
                    const Store<T, S> how{.bias = bias ? bias + first : nullptr};
                    for (std::int64_t i = 0; i < band.rows; ++i)
                        for (std::int64_t j = 0; j < window.out_w; j += height) {
                            const std::int64_t tall = std::min(height, window.out_w - j);
                            tile_for<T>(tall, cols)(
                                sums,
                                padded.at(i * window.stride_h, j * window.stride_w) + g * in_group,
                                weights.panel(g, panel), sum);
                            store_tile(rows + (i * window.out_w + j) * window.filters + first,
                                       window.filters, sums, tile_columns<T>(cols), tall, cols,
                                       how);
                        }
                }
        }
    });
}

template <class T, class S>
void forward(void* y, const void* x, const void* w, const void* bias, const Conv2dShape& shape) {
    const PackedWeights<T, S> weights(static_cast<const S*>(w), shape,
                                      PackedWeights<T, S>::Use::forward);
    correlate<T, S>(static_cast<S*>(y), static_cast<const S*>(x), static_cast<const S*>(bias),
                    weights, forward_window(shape));
}

template <class T, class S>
void data_gradient(void* dx, const void* dy, const void* w, const Conv2dShape& shape) {
    const PackedWeights<T, S> weights(static_cast<const S*>(w), shape,
                                      PackedWeights<T, S>::Use::data_gradient);
    correlate<T, S>(static_cast<S*>(dx), static_cast<const S*>(dy), static_cast<const S*>(nullptr),
                    weights, data_gradient_window(shape));
}

/// Sums of a weight gradient, laid out (group, panel, R, S, input channels, tile_columns).
template <class T, class S>
class WeightSums {
public:
    explicit WeightSums(const Conv2dShape& shape)
        : shape_(shape),
          window_(forward_window(shape)),
          in_(shape.c / shape.groups),
          out_(shape.k / shape.groups),
          panels_((out_ + width - 1) / width) {}

    std::int64_t size() const {
        return shape_.groups * panels_ * shape_.r * shape_.s * in_ * width;
    }
    std::int64_t bands() const { return Bands(window_, sizeof(T)).count(); }

    /// sums = over bands [begin, end).
    void add_bands(T* sums, const S* dy, const S* x, std::int64_t begin, std::int64_t end) const {
        std::fill(sums, sums + size(), T{0});
        const Bands all(window_, sizeof(T));
        for (std::int64_t index = begin; index < end; ++index) {
            const Band band = all[index];
            const PaddedBand<T> padded = copy_padded<T>(x, window_, band);
            const S* rows =
                dy + (band.image * window_.out_h + band.first) * window_.out_w * shape_.k;
            for (std::int64_t g = 0; g < shape_.groups; ++g)
                for (std::int64_t panel = 0; panel < panels_; ++panel)
                    add_panel(sums + (g * panels_ + panel) * panel_size(), rows, padded, band, g,
                              panel);
        }
    }

    /// dw (K, C / groups, R, S) from the sums.
    void store(S* dw, const T* sums) const {
        const std::int64_t taps = shape_.r * shape_.s;
        T* ordered =
            scratch<T>(Scratch::operand_b, static_cast<std::size_t>(shape_.k * in_ * taps));
        for (std::int64_t k = 0; k < shape_.k; ++k) {
            const std::int64_t g = k / out_, panel = k % out_ / width, j = k % out_ % width;
            const std::int64_t padded = tile_columns<T>(columns(panel));
            const T* from = sums + (g * panels_ + panel) * panel_size() + j;
            for (std::int64_t i = 0; i < in_; ++i)
                for (std::int64_t tap = 0; tap < taps; ++tap)
                    ordered[(k * in_ + i) * taps + tap] = from[(tap * in_ + i) * padded];
        }
        convert_run(dw, ordered, shape_.k * in_ * taps);
    }

private:
    static constexpr std::int64_t width = panel_columns<T>();

    std::int64_t columns(std::int64_t panel) const { return std::min(width, out_ - panel * width); }
    std::int64_t panel_size() const { return shape_.r * shape_.s * in_ * width; }

    struct Columns {
        const T* data;
        std::int64_t step;
    };
    /// The panel's channels of dy, one row a pixel: in place where rows are whole vectors.
    Columns columns_of(const S* rows, const Band& band, std::int64_t first,
                       std::int64_t cols) const {
        const std::int64_t padded = tile_columns<T>(cols);
        if constexpr (std::is_same_v<S, T>)
            if (cols == padded) return {rows + first, shape_.k};
        const std::int64_t pixels = band.rows * window_.out_w;
        T* dst = scratch<T>(Scratch::gemm_rows, static_cast<std::size_t>(pixels * padded));
        for (std::int64_t p = 0; p < pixels; ++p)
            convert_run(dst + p * padded, rows + p * shape_.k + first, cols);
        return {dst, padded};
    }

    /// Without groups and dilation the taps of one window row and all channels are contiguous, so
    /// they form the rows of one matrix; otherwise each tap has its own matrix.
    void add_panel(T* sums, const S* rows, const PaddedBand<T>& x, const Band& band, std::int64_t g,
                   std::int64_t panel) const {
        const std::int64_t cols = columns(panel), padded = tile_columns<T>(cols);
        const Columns b = columns_of(rows, band, g * out_ + panel * width, cols);
        const bool joined = shape_.groups == 1 && shape_.dilation_w == 1;
        const std::int64_t pieces = joined ? 1 : shape_.s;
        const std::int64_t height = joined ? shape_.s * in_ : in_;
        const TileSum sum{.a_row = 1,
                          .outer = band.rows,
                          .mid = 1,
                          .inner = window_.out_w,
                          .a_outer = shape_.stride_h * x.row,
                          .a_mid = 0,
                          .a_inner = shape_.stride_w * shape_.c,
                          .b_step = b.step};
        for (std::int64_t r = 0; r < shape_.r; ++r)
            for (std::int64_t piece = 0; piece < pieces; ++piece) {
                const T* a = x.at(r * shape_.dilation_h, piece * shape_.dilation_w) + g * in_;
                add_rows(sums + (r * shape_.s + piece) * in_ * padded, a, height, b.data, cols,
                         sum);
            }
    }

    void add_rows(T* sums, const T* a, std::int64_t rows, const T* b, std::int64_t cols,
                  const TileSum& sum) const {
        HWY_ALIGN T tile[max_tile_rows * width];
        const std::int64_t height = tile_rows(rows), padded = tile_columns<T>(cols);
        for (std::int64_t i = 0; i < rows; i += height) {
            const std::int64_t tall = std::min(height, rows - i);
            tile_for<T>(tall, cols)(tile, a + i, b, sum);
            T* to = sums + i * padded;
            for (std::int64_t j = 0; j < tall * padded; ++j) to[j] += tile[j];
        }
    }

    Conv2dShape shape_;
    Window window_;
    std::int64_t in_, out_, panels_;
};

/// Bands are distributed over as many partial sums as there are threads, and these are added in
/// order: the result depends only on the thread count.
template <class T, class S>
void weight_gradient(void* dw, const void* dy, const void* x, const Conv2dShape& shape) {
    const WeightSums<T, S> weights(shape);
    const std::int64_t bands = weights.bands(), size = weights.size();
    const std::int64_t parts = std::max<std::int64_t>(1, std::min<std::int64_t>(bands, threads()));
    T* sums = scratch<T>(Scratch::conv_sums, static_cast<std::size_t>(parts * size));
    parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t part = begin; part < end; ++part)
            weights.add_bands(sums + part * size, static_cast<const S*>(dy),
                              static_cast<const S*>(x), bands * part / parts,
                              bands * (part + 1) / parts);
    });
    for (std::int64_t part = 1; part < parts; ++part)
        for (std::int64_t i = 0; i < size; ++i) sums[i] += sums[part * size + i];
    weights.store(static_cast<S*>(dw), sums);
}

/// sums (cols) = over rows [begin, end) of dy (rows, cols). Blocks of rows have their own sums, so
/// the error grows with the square root of the row count.
template <class T, class S>
void column_sums(T* sums, T* block, const S* dy, std::int64_t begin, std::int64_t end,
                 std::int64_t cols) {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const std::int64_t whole = cols / lanes * lanes;
    const auto rest = static_cast<std::size_t>(cols - whole);
    std::fill(sums, sums + cols, T{0});
    for (std::int64_t first = begin; first < end; first += 256) {
        std::fill(block, block + whole + lanes, T{0});
        for (std::int64_t row = first; row < std::min(end, first + 256); ++row) {
            const S* from = dy + row * cols;
            for (std::int64_t j = 0; j < whole; j += lanes)
                store(hn::Add(load(block + j), load(from + j)), block + j);
            if (rest)
                store(hn::Add(load(block + whole), load_part(from + whole, rest)), block + whole);
        }
        for (std::int64_t j = 0; j < cols; ++j) sums[j] += block[j];
    }
}

template <class T, class S>
void bias_gradient(void* dbias, const void* dy, std::int64_t rows, std::int64_t cols) {
    const std::int64_t lanes = lanes_of<T>(), stride = cols + lanes;
    const std::int64_t parts =
        std::max<std::int64_t>(1, std::min<std::int64_t>(rows * cols >> 16, threads()));
    T* sums = scratch<T>(Scratch::conv_sums, static_cast<std::size_t>(2 * parts * stride));
    parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t part = begin; part < end; ++part)
            column_sums(sums + part * stride, sums + (parts + part) * stride,
                        static_cast<const S*>(dy), rows * part / parts, rows * (part + 1) / parts,
                        cols);
    });
    for (std::int64_t part = 1; part < parts; ++part)
        for (std::int64_t j = 0; j < cols; ++j) sums[j] += sums[part * stride + j];
    convert_run(static_cast<S*>(dbias), sums, cols);
}

void forward_dtypes(DType dtype, void* y, const void* x, const void* w, const void* bias,
                    const Conv2dShape& shape) {
    if (dtype == DType::f64) return forward<double, double>(y, x, w, bias, shape);
    if (dtype == DType::f32) return forward<float, float>(y, x, w, bias, shape);
    if (dtype == DType::f16) return forward<float, Half>(y, x, w, bias, shape);
    forward<float, BFloat16>(y, x, w, bias, shape);
}

void data_gradient_dtypes(DType dtype, void* dx, const void* dy, const void* w,
                          const Conv2dShape& shape) {
    if (dtype == DType::f64) return data_gradient<double, double>(dx, dy, w, shape);
    if (dtype == DType::f32) return data_gradient<float, float>(dx, dy, w, shape);
    if (dtype == DType::f16) return data_gradient<float, Half>(dx, dy, w, shape);
    data_gradient<float, BFloat16>(dx, dy, w, shape);
}

void weight_gradient_dtypes(DType dtype, void* dw, const void* dy, const void* x,
                            const Conv2dShape& shape) {
    if (dtype == DType::f64) return weight_gradient<double, double>(dw, dy, x, shape);
    if (dtype == DType::f32) return weight_gradient<float, float>(dw, dy, x, shape);
    if (dtype == DType::f16) return weight_gradient<float, Half>(dw, dy, x, shape);
    weight_gradient<float, BFloat16>(dw, dy, x, shape);
}

void bias_gradient_dtypes(DType dtype, void* dbias, const void* dy, std::int64_t rows,
                          std::int64_t cols) {
    if (dtype == DType::f64) return bias_gradient<double, double>(dbias, dy, rows, cols);
    if (dtype == DType::f32) return bias_gradient<float, float>(dbias, dy, rows, cols);
    if (dtype == DType::f16) return bias_gradient<float, Half>(dbias, dy, rows, cols);
    bias_gradient<float, BFloat16>(dbias, dy, rows, cols);
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {

HWY_EXPORT(forward_dtypes);
HWY_EXPORT(data_gradient_dtypes);
HWY_EXPORT(weight_gradient_dtypes);
HWY_EXPORT(bias_gradient_dtypes);

void conv2d_forward_tiled(Array y, ConstArray x, ConstArray w, ConstArray bias,
                          const Conv2dShape& shape) {
    HWY_DYNAMIC_DISPATCH(forward_dtypes)(y.dtype, y.data, x.data, w.data, bias.data, shape);
}

void conv2d_data_gradient_tiled(Array dx, ConstArray dy, ConstArray w, const Conv2dShape& shape) {
    HWY_DYNAMIC_DISPATCH(data_gradient_dtypes)(dx.dtype, dx.data, dy.data, w.data, shape);
}

void conv2d_weight_gradient_tiled(Array dw, ConstArray dy, ConstArray x, const Conv2dShape& shape) {
    HWY_DYNAMIC_DISPATCH(weight_gradient_dtypes)(dw.dtype, dw.data, dy.data, x.data, shape);
}

void conv2d_bias_gradient(Array dbias, ConstArray dy) {
    HWY_DYNAMIC_DISPATCH(bias_gradient_dtypes)
    (dy.dtype, dbias.data, dy.data, dy.size / dbias.size, dbias.size);
}

}  // namespace kernels::cpu
#endif
