#include <algorithm>

#include "cpu/conv2d_paths.h"
#include "cpu/gemm_scratch.h"
#include "kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/conv2d_pixels_weight.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/conv2d_window-inl.h"
#include "cpu/gemm_pack-inl.h"
#include "cpu/gemm_tile-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

constexpr std::int64_t width = panel_columns<float>();

/// Terms of one f32 sum: enough for a tile, few enough for its error.
constexpr std::int64_t max_terms = 2048;

/// Output positions along an axis whose tap meets the image, and the first one's input position.
struct Reach {
    std::int64_t first, count, at;
};
Reach reach(std::int64_t tap_at, std::int64_t stride, std::int64_t outputs, std::int64_t size) {
    const std::int64_t first = tap_at < 0 ? (stride - 1 - tap_at) / stride : 0;
    const std::int64_t end =
        tap_at < size ? std::min(outputs, (size - 1 - tap_at) / stride + 1) : 0;
    return {first, std::max<std::int64_t>(0, end - first), tap_at + first * stride};
}

/// The sums of a weight gradient, tile by tile: some input channels, which lie together for each
/// pixel, by a panel of output channels.
class PixelWeightGradient {
public:
    PixelWeightGradient(const float* dy, const float* x, const Conv2dShape& s)
        : s_(s),
          dy_(dy),
          x_(x),
          pixels_(s.h * s.w),
          outputs_(s.oh() * s.ow()),
          height_(tile_rows(s.c)),
          blocks_((s.c + height_ - 1) / height_),
          channels_(scratch<float>(Scratch::gemm_a, size(blocks_ * height_ * s.n * pixels_))),
          sums_(scratch<float>(Scratch::conv_sums, size(s.k * s.c * s.r * s.s))) {}

    void compute(float* dw) const {
        parallel_for(blocks_, 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t block = begin; block < end; ++block) gather_channels(block);
        });
        const std::int64_t panels = s_.k / width;
        parallel_for(panels * blocks_, 1, [&](std::int64_t begin, std::int64_t end) {
            const float* gradients = nullptr;
            std::int64_t held = -1;
            for (std::int64_t task = begin; task < end; ++task) {
                const std::int64_t panel = task / blocks_;
                if (panel != held) gradients = gather_gradients(panel);
                held = panel;
                for (std::int64_t tap = 0; tap < s_.r * s_.s; ++tap)
                    add_tap(panel, task % blocks_, tap, gradients);
            }
        });
        parallel_for(panels, 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t panel = begin; panel < end; ++panel) store_panel(dw, panel);
        });
    }

private:
    static std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }
    std::int64_t tall(std::int64_t block) const {
        return std::min(height_, s_.c - block * height_);
    }

    void gather_channels(std::int64_t block) const {
        float* to = channels_ + block * height_ * s_.n * pixels_;
        const float* from = x_ + block * height_;
        for (std::int64_t i = 0; i < s_.n * pixels_; ++i, to += height_, from += s_.c)
            std::copy_n(from, tall(block), to);
    }
    const float* gather_gradients(std::int64_t panel) const {
        const std::int64_t rows = s_.n * outputs_;
        float* const to = scratch<float>(Scratch::gemm_rows, size(rows * width));
        for (std::int64_t i = 0; i < rows; ++i)
            std::copy_n(dy_ + i * s_.k + panel * width, width, to + i * width);
        return to;
    }

    /// The sums of one tap: over the images, and the pixels where it meets them.
    void add_tap(std::int64_t panel, std::int64_t block, std::int64_t tap,
                 const float* gradients) const {
        const Reach rows = reach(tap / s_.s * s_.dilation_h - s_.pad_h, s_.stride_h, s_.oh(), s_.h);
        const Reach cols = reach(tap % s_.s * s_.dilation_w - s_.pad_w, s_.stride_w, s_.ow(), s_.w);
        float* const to = sums_ + ((panel * s_.r * s_.s + tap) * s_.c + block * height_) * width;
        const std::int64_t terms = rows.count * cols.count, values = tall(block) * width;
        if (terms == 0) {
            std::fill_n(to, values, 0.0f);
            return;
        }
        const std::int64_t images = std::max<std::int64_t>(1, max_terms / terms);
        const float* const channels = channels_ + block * height_ * s_.n * pixels_;
        HWY_ALIGN float more[max_tile_rows * width];
        for (std::int64_t first = 0; first < s_.n; first += images) {
            const TileSum sum{.a_row = 1,
                              .outer = std::min(images, s_.n - first),
                              .mid = rows.count,
                              .inner = cols.count,
                              .a_outer = pixels_ * height_,
                              .a_mid = s_.stride_h * s_.w * height_,
                              .a_inner = s_.stride_w * height_,
                              .b_step = width,
                              .b_gap = (s_.oh() - rows.count) * s_.ow() * width,
                              .b_mid_gap = (s_.ow() - cols.count) * width};
            const float* const a =
                channels + (first * pixels_ + rows.at * s_.w + cols.at) * height_;
            const float* const b =
                gradients + (first * outputs_ + rows.first * s_.ow() + cols.first) * width;
            tile_for<float>(tall(block), width)(first == 0 ? to : more, a, b, sum);
            for (std::int64_t i = 0; first > 0 && i < values; ++i) to[i] += more[i];
        }
    }

    /// A panel of dw (K, C, R, S) from its sums (R, S, C, width).
    void store_panel(float* dw, std::int64_t panel) const {
        constexpr std::int64_t length = 64;
        const std::int64_t taps = s_.r * s_.s, row = s_.c * taps;
        const std::int64_t columns = std::min(width, s_.k - panel * width);
        const float* const from = sums_ + panel * row * width;
        HWY_ALIGN float block[length * width];
        for (std::int64_t at = 0; at < row; at += length) {
            const std::int64_t count = std::min(length, row - at);
            for (std::int64_t i = 0; i < count; ++i)
                std::copy_n(from + ((at + i) % taps * s_.c + (at + i) / taps) * width, width,
                            block + i * width);
            transpose(dw + panel * width * row + at, row, block, width, count, columns);
        }
    }

    const Conv2dShape& s_;
    const float* dy_;
    const float* x_;
    std::int64_t pixels_, outputs_, height_, blocks_;
    float* channels_;  ///< (blocks, images and pixels, height)
    float* sums_;      ///< (panels, R, S, C, width)
};

void weight_gradient_of(float* dw, const float* dy, const float* x, const Conv2dShape& shape) {
    PixelWeightGradient(dy, x, shape).compute(dw);
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {
namespace {
HWY_EXPORT(weight_gradient_of);
}  // namespace

void conv2d_weight_gradient_pixels(float* dw, const float* dy, const float* x,
                                   const Conv2dShape& shape) {
    HWY_DYNAMIC_DISPATCH(weight_gradient_of)(dw, dy, x, shape);
}

}  // namespace kernels::cpu
#endif
