#include "cpu/conv2d_paths.h"

#include "cpu/gemm_scratch.h"
#include "kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/conv2d_scatter.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/gemm_pack-inl.h"
#include "cpu/gemm_tile-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

template <class T, class S>
class Scatter {
public:
    Scatter(const Conv2dShape& shape, const S* w)
        : s_(shape),
          in_(shape.c / shape.groups),
          out_(shape.k / shape.groups),
          columns_(shape.r * shape.s * in_),
          panels_((columns_ + width - 1) / width),
          padded_h_((shape.oh() - 1) * shape.stride_h + (shape.r - 1) * shape.dilation_h + 1),
          padded_w_((shape.ow() - 1) * shape.stride_w + (shape.s - 1) * shape.dilation_w + 1) {
        const std::int64_t group_size = panels_ * width * out_;
        weights_ = scratch<T>(Scratch::gemm_b, static_cast<std::size_t>(s_.groups * group_size));
        for (std::int64_t g = 0; g < s_.groups; ++g)
            pack_group(weights_ + g * group_size, w + g * out_ * columns_);
    }

    /// One image: dx (H, W, C) from dy (OH, OW, K).
    void image(S* dx, const S* dy) const {
        const std::int64_t size = padded_h_ * padded_w_ * s_.c;
        T* padded = scratch<T>(Scratch::conv_image, static_cast<std::size_t>(size));
        std::fill(padded, padded + size, T{0});
        const std::int64_t pitch = panels_ * width;
        T* windows = scratch<T>(Scratch::conv_sums, static_cast<std::size_t>(s_.ow() * pitch));
        for (std::int64_t i = 0; i < s_.oh(); ++i) {
            const T* row = row_of(dy + i * s_.ow() * s_.k);
            for (std::int64_t g = 0; g < s_.groups; ++g) {
                multiply_row(windows, row + g * out_, g);
                for (std::int64_t j = 0; j < s_.ow(); ++j)
                    add_window(
                        padded + (i * s_.stride_h * padded_w_ + j * s_.stride_w) * s_.c + g * in_,
                        windows + j * pitch);
            }
        }
        store_image(dx, padded);
    }

    std::int64_t multiply_adds() const { return s_.oh() * s_.ow() * s_.k * columns_; }

private:
    static constexpr std::int64_t width = panel_columns<T>();

    std::int64_t cols(std::int64_t panel) const {
        return std::min(width, columns_ - panel * width);
    }

    /// Weights (output channel, input channel, R, S) of a group as panels of (output channel, tap
    /// and input channel).
    void pack_group(T* dst, const S* w) const {
        const std::int64_t taps = s_.r * s_.s;
        T* wide = scratch<T>(Scratch::operand_b, static_cast<std::size_t>(columns_));
        std::fill(dst, dst + panels_ * width * out_, T{0});
        for (std::int64_t k = 0; k < out_; ++k) {
            convert_run(wide, w + k * columns_, columns_);
            for (std::int64_t column = 0; column < columns_; ++column) {
                const std::int64_t panel = column / width;
                dst[panel * width * out_ + k * tile_columns<T>(cols(panel)) + column % width] =
                    wide[column % in_ * taps + column / in_];
            }
        }
    }

    /// A row of dy in the type computed in.
    const T* row_of(const S* dy) const {
        if constexpr (std::is_same_v<S, T>) {
            return dy;
        } else {
            const std::int64_t size = s_.ow() * s_.k;
            T* row = scratch<T>(Scratch::gemm_a, static_cast<std::size_t>(size));
            convert_run(row, dy, size);
            return row;
        }
    }

    /// windows (OW, panels_ * width) = row (OW, channels of the group) times its weights.
    void multiply_row(T* windows, const T* row, std::int64_t g) const {
        HWY_ALIGN T sums[max_tile_rows * width + width];
        const std::int64_t height = tile_rows(s_.ow());
        for (std::int64_t panel = 0; panel < panels_; ++panel) {
            const std::int64_t padded = tile_columns<T>(cols(panel));
            const TileSum sum{s_.k, 1, 1, out_, 0, 0, 1, padded};
            const T* weights = weights_ + (g * panels_ + panel) * width * out_;
            for (std::int64_t j = 0; j < s_.ow(); j += height) {
                const std::int64_t tall = std::min(height, s_.ow() - j);
                tile_for<T>(tall, cols(panel))(sums, row + j * s_.k, weights, sum);
                store_tile(windows + j * panels_ * width + panel * width, panels_ * width, sums,
                           padded, tall, padded, Store<T, T>());
            }
        }
    }

    /// Without groups and dilation the taps of one window row lie side by side.
    void add_window(T* to, const T* window) const {
        const bool joined = s_.groups == 1 && s_.dilation_w == 1;
        const std::int64_t pieces = joined ? 1 : s_.s, run = joined ? s_.s * in_ : in_;
        for (std::int64_t r = 0; r < s_.r; ++r)
            for (std::int64_t piece = 0; piece < pieces; ++piece, window += run)
                add_run(to + (r * s_.dilation_h * padded_w_ + piece * s_.dilation_w) * s_.c, window,
                        run);
    }

    static void add_run(T* to, const T* from, std::int64_t n) {
        const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<T>()));
        std::int64_t i = 0;
        for (; i + lanes <= n; i += lanes) store(hn::Add(load(to + i), load(from + i)), to + i);
        if (i == n) return;
        const auto rest = static_cast<std::size_t>(n - i);
        store_part(hn::Add(load_part(to + i, rest), load_part(from + i, rest)), to + i, rest);
    }

    void store_image(S* dx, const T* padded) const {
        const std::int64_t kept = std::clamp<std::int64_t>(padded_w_ - s_.pad_w, 0, s_.w);
        for (std::int64_t h = 0; h < s_.h; ++h, dx += s_.w * s_.c) {
            const std::int64_t from = h + s_.pad_h;
            const bool reached = from < padded_h_;
            if (reached)
                convert_run(dx, padded + (from * padded_w_ + s_.pad_w) * s_.c, kept * s_.c);
            // Pixels that no window reaches.
            std::fill(dx + (reached ? kept : 0) * s_.c, dx + s_.w * s_.c, S{});
        }
    }

    Conv2dShape s_;
    std::int64_t in_, out_, columns_, panels_, padded_h_, padded_w_;
    T* weights_;
};

template <class T, class S>
void scatter(void* dx, const void* dy, const void* w, const Conv2dShape& shape) {
    const Scatter<T, S> images(shape, static_cast<const S*>(w));
    const std::int64_t in = shape.h * shape.w * shape.c, out = shape.oh() * shape.ow() * shape.k;
    const std::int64_t grain = (std::int64_t{1} << 19) / (images.multiply_adds() + 1) + 1;
    parallel_for(shape.n, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            images.image(static_cast<S*>(dx) + i * in, static_cast<const S*>(dy) + i * out);
    });
}

void scatter_dtypes(DType dtype, void* dx, const void* dy, const void* w,
                    const Conv2dShape& shape) {
    if (dtype == DType::f64) return scatter<double, double>(dx, dy, w, shape);
    if (dtype == DType::f32) return scatter<float, float>(dx, dy, w, shape);
    if (dtype == DType::f16) return scatter<float, Half>(dx, dy, w, shape);
    scatter<float, BFloat16>(dx, dy, w, shape);
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {

HWY_EXPORT(scatter_dtypes);

void conv2d_data_gradient_scattered(Array dx, ConstArray dy, ConstArray w,
                                    const Conv2dShape& shape) {
    HWY_DYNAMIC_DISPATCH(scatter_dtypes)(dx.dtype, dx.data, dy.data, w.data, shape);
}

}  // namespace kernels::cpu
#endif
