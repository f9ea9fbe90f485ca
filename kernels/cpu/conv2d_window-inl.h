// Windows over NHWC images for our own convolutions: splits the output into bands of rows, and
// copies the input of a band with its padding. For one Highway target; include after hwy/highway.h
// in a file compiled through foreach_target.

#if defined(KERNELS_CPU_CONV2D_WINDOW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNELS_CPU_CONV2D_WINDOW_INL_H
#undef KERNELS_CPU_CONV2D_WINDOW_INL_H
#else
#define KERNELS_CPU_CONV2D_WINDOW_INL_H
#endif

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "cpu/gemm_pack-inl.h"
#include "cpu/gemm_scratch.h"
#include "cpu/gemm_tile-inl.h"
#include "hwy/highway.h"
#include "kernels/conv2d.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {

/// out (images, out_h, out_w, filters) from in (images, in_h, in_w, channels): output row i reads
/// rows i * stride - pad + tap * dilation of the input. A negative pad drops rows.
struct Window {
    std::int64_t images, channels, in_h, in_w, filters, out_h, out_w;
    std::int64_t r, s, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
    std::int64_t groups;

    std::int64_t padded_w() const { return (out_w - 1) * stride_w + (s - 1) * dilation_w + 1; }
    std::int64_t padded_h(std::int64_t rows) const {
        return (rows - 1) * stride_h + (r - 1) * dilation_h + 1;
    }
};

inline Window forward_window(const Conv2dShape& s) {
    return {.images = s.n,
            .channels = s.c,
            .in_h = s.h,
            .in_w = s.w,
            .filters = s.k,
            .out_h = s.oh(),
            .out_w = s.ow(),
            .r = s.r,
            .s = s.s,
            .stride_h = s.stride_h,
            .stride_w = s.stride_w,
            .pad_h = s.pad_h,
            .pad_w = s.pad_w,
            .dilation_h = s.dilation_h,
            .dilation_w = s.dilation_w,
            .groups = s.groups};
}

/// The data gradient of a convolution without stride: dy under the weights turned round.
inline Window data_gradient_window(const Conv2dShape& s) {
    return {.images = s.n,
            .channels = s.k,
            .in_h = s.oh(),
            .in_w = s.ow(),
            .filters = s.c,
            .out_h = s.h,
            .out_w = s.w,
            .r = s.r,
            .s = s.s,
            .stride_h = 1,
            .stride_w = 1,
            .pad_h = (s.r - 1) * s.dilation_h - s.pad_h,
            .pad_w = (s.s - 1) * s.dilation_w - s.pad_w,
            .dilation_h = s.dilation_h,
            .dilation_w = s.dilation_w,
            .groups = s.groups};
}

/// Rows [first, first + rows) of one output image.
struct Band {
    std::int64_t image, first, rows;
};

/// All output rows, in bands whose padded input fits a core's L2 beside the weights.
class Bands {
public:
    Bands(const Window& window, std::size_t bytes_each) : images_(window.images) {
        const std::int64_t row =
            window.padded_w() * window.channels * static_cast<std::int64_t>(bytes_each);
        const std::int64_t fitting = std::max<std::int64_t>(1, (256 << 10) / row - window.r);
        // A single image must still be split for a few threads.
        const std::int64_t fair = window.images >= 8 ? window.out_h : (window.out_h + 7) / 8;
        rows_ = std::clamp<std::int64_t>(std::min(fitting, fair), 1, window.out_h);
        per_image_ = (window.out_h + rows_ - 1) / rows_;
        out_h_ = window.out_h;
        const std::int64_t work = rows_ * window.out_w * window.filters * window.r * window.s *
                                  (window.channels / window.groups);
        grain_ = (std::int64_t{1} << 19) / std::max<std::int64_t>(work, 1) + 1;
    }
    std::int64_t count() const { return images_ * per_image_; }
    /// Bands worth a thread.
    std::int64_t grain() const { return grain_; }
    Band operator[](std::int64_t index) const {
        const std::int64_t first = index % per_image_ * rows_;
        return {index / per_image_, first, std::min(rows_, out_h_ - first)};
    }

private:
    std::int64_t images_, rows_, per_image_, out_h_, grain_;
};

/// A band's input, rows of `row` elements, pixels of `pixel`.
template <class T>
struct PaddedBand {
    const T* data;
    std::int64_t row, pixel;
    const T* at(std::int64_t y, std::int64_t x) const { return data + y * row + x * pixel; }
};

/// One padded row: input row `from`, or zeros if that is null.
template <class T, class S>
void copy_padded_row(T* dst, const S* from, const Window& window) {
    const std::int64_t width = window.padded_w(), channels = window.channels;
    if (!from) {
        std::fill(dst, dst + width * channels, T{0});
        return;
    }
    const std::int64_t begin = std::clamp<std::int64_t>(window.pad_w, 0, width);
    const std::int64_t end = std::clamp<std::int64_t>(window.pad_w + window.in_w, begin, width);
    std::fill(dst, dst + begin * channels, T{0});
    convert_run(dst + begin * channels, from + (begin - window.pad_w) * channels,
                (end - begin) * channels);
    std::fill(dst + end * channels, dst + width * channels, T{0});
}

template <class T, class S>
PaddedBand<T> copy_padded(const S* in, const Window& window, const Band& band) {
    const S* image = in + band.image * window.in_h * window.in_w * window.channels;
    const std::int64_t first = band.first * window.stride_h - window.pad_h;
    const std::int64_t rows = window.padded_h(band.rows);
    if constexpr (std::is_same_v<S, T>) {
        // Nothing to add or convert: read where it lies.
        if (window.pad_w == 0 && first >= 0 && first + rows <= window.in_h &&
            window.padded_w() <= window.in_w)
            return {image + first * window.in_w * window.channels, window.in_w * window.channels,
                    window.channels};
    }
    const std::int64_t row = window.padded_w() * window.channels;
    T* dst = scratch<T>(Scratch::conv_image, static_cast<std::size_t>(rows * row));
    for (std::int64_t i = 0; i < rows; ++i) {
        const std::int64_t at = first + i;
        const bool inside = at >= 0 && at < window.in_h;
        const S* from = inside ? image + at * window.in_w * window.channels : nullptr;
        copy_padded_row(dst + i * row, from, window);
    }
    return {dst, row, window.channels};
}

/// The sum of one output pixel over its window; tiles use neighbouring pixels as their rows.
/// Without groups and dilation a window row is contiguous in memory.
template <class T>
TileSum window_sum(const Window& window, const PaddedBand<T>& x, std::int64_t b_step) {
    const bool joined = window.groups == 1 && window.dilation_w == 1;
    const std::int64_t channels = window.channels / window.groups;
    return {.a_row = window.stride_w * x.pixel,
            .outer = window.r,
            .mid = joined ? 1 : window.s,
            .inner = joined ? window.s * channels : channels,
            .a_outer = window.dilation_h * x.row,
            .a_mid = window.dilation_w * x.pixel,
            .a_inner = 1,
            .b_step = b_step};
}

}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
