#include "cpu/conv2d_paths.h"

#include <algorithm>

#include "cpu/gemm_scratch.h"
#include "kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/conv2d_pixels.cpp"
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

/// Weights as the tiles read them: for each panel of `width` output channels (R, S, input channels,
/// width).
class PanelWeights {
public:
    PanelWeights(const float* w, const Window& window)
        : w_(w),
          in_(window.channels),
          out_(window.filters),
          taps_(window.r * window.s),
          data_(scratch<float>(Scratch::gemm_b, static_cast<std::size_t>(out_ * in_ * taps_))) {}

    std::int64_t panels() const { return out_ / width; }
    const float* panel(std::int64_t index) const { return data_ + index * width * in_ * taps_; }

    /// Packs w (K, C, R, S), C the input channels: a panel's filters side by side.
    void pack_forward() const {
        parallel_for(panels(), 1, [&](std::int64_t begin, std::int64_t end) {
            HWY_ALIGN float block[block_length * width];
            for (std::int64_t index = begin; index < end; ++index) {
                const float* const from = w_ + index * width * in_ * taps_;
                for (std::int64_t at = 0; at < in_ * taps_; at += block_length) {
                    const std::int64_t count = std::min(block_length, in_ * taps_ - at);
                    transpose(block, width, from + at, in_ * taps_, width, count);
                    for (std::int64_t i = 0; i < count; ++i)
                        put(index, (at + i) % taps_, (at + i) / taps_, block + i * width);
                }
            }
        });
    }
    /// Packs w (K, C, R, S), K the input channels, with the window turned round.
    void pack_turned() const {
        parallel_for(panels(), 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t index = begin; index < end; ++index) {
                float* const block =
                    scratch<float>(Scratch::gemm_rows, static_cast<std::size_t>(taps_ * width));
                for (std::int64_t k = 0; k < in_; ++k) {
                    const float* const from = w_ + (k * out_ + index * width) * taps_;
                    transpose(block, width, from, taps_, width, taps_);
                    for (std::int64_t tap = 0; tap < taps_; ++tap)
                        put(index, taps_ - 1 - tap, k, block + tap * width);
                }
            }
        });
    }

private:
    static constexpr std::int64_t block_length = 64;

    void put(std::int64_t index, std::int64_t tap, std::int64_t channel, const float* row) const {
        float* const to = data_ + (index * in_ * taps_ + tap * in_ + channel) * width;
        std::copy_n(row, width, to);
    }

    const float* w_;
    std::int64_t in_, out_, taps_;
    float* data_;
};

/// The taps along an axis that meet the image.
struct Taps {
    std::int64_t first, count;
};
Taps taps_inside(std::int64_t start, std::int64_t dilation, std::int64_t taps, std::int64_t size) {
    const std::int64_t first = start < 0 ? (dilation - 1 - start) / dilation : 0;
    const std::int64_t end =
        start < size ? std::min(taps, (size - 1 - start) / dilation + 1) : first;
    return {first, std::max<std::int64_t>(0, end - first)};
}

/// One output pixel of several images: what its tile adds up, from where on in an image and in a
/// panel.
struct PixelSum {
    TileSum sum;
    std::int64_t image_at, panel_at;
};
PixelSum pixel_sum(const Window& w, std::int64_t pixel, std::int64_t image_pitch) {
    const std::int64_t top = pixel / w.out_w * w.stride_h - w.pad_h;
    const std::int64_t left = pixel % w.out_w * w.stride_w - w.pad_w;
    const Taps rows = taps_inside(top, w.dilation_h, w.r, w.in_h);
    const Taps cols = taps_inside(left, w.dilation_w, w.s, w.in_w);
    const std::int64_t row = top + rows.first * w.dilation_h;
    const std::int64_t col = left + cols.first * w.dilation_w;
    return {{.a_row = image_pitch,
             .outer = cols.count > 0 ? rows.count : 0,
             .mid = cols.count,
             .inner = w.channels,
             .a_outer = w.dilation_h * w.in_w * w.channels,
             .a_mid = w.dilation_w * w.channels,
             .a_inner = 1,
             .b_step = width,
             .b_gap = (w.s - cols.count) * w.channels * width},
            (row * w.in_w + col) * w.channels,
            (rows.first * w.s + cols.first) * w.channels * width};
}

/// out = window sums of in. A task is a panel of the output channels of a tile's images: the tile
/// is copied to a pitch that does not put all its rows in one set of the cache.
void correlate(float* out, const float* in, const float* bias, const PanelWeights& weights,
               const Window& w) {
    const std::int64_t image = w.in_h * w.in_w * w.channels, pitch = image + lanes_of<float>();
    const std::int64_t pixels = w.out_h * w.out_w, height = tile_rows(w.images);
    const std::int64_t tiles = (w.images + height - 1) / height, panels = weights.panels();
    parallel_for(tiles * panels, 1, [&](std::int64_t begin, std::int64_t end) {
        float* const rows =
            scratch<float>(Scratch::conv_image, static_cast<std::size_t>(height * pitch));
        HWY_ALIGN float sums[max_tile_rows * width + width];
        std::int64_t held = -1;
        for (std::int64_t task = begin; task < end; ++task) {
            const std::int64_t tile = task / panels, panel = task % panels;
            const std::int64_t first = tile * height, tall = std::min(height, w.images - first);
            for (std::int64_t i = 0; tile != held && i < tall; ++i)
                convert_run(rows + i * pitch, in + (first + i) * image, image);
            held = tile;
            const Store<float, float> how{.bias = bias ? bias + panel * width : nullptr};
            for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
                const PixelSum at = pixel_sum(w, pixel, pitch);
                const bool any = at.sum.outer > 0;
                tile_for<float>(tall, width)(sums, any ? rows + at.image_at : rows,
                                             weights.panel(panel) + (any ? at.panel_at : 0),
                                             at.sum);
                store_tile(out + (first * pixels + pixel) * w.filters + panel * width,
                           pixels * w.filters, sums, width, tall, width, how);
            }
        }
    });
}

void forward_of(float* y, const float* x, const float* w, const float* bias,
                const Conv2dShape& shape) {
    const Window window = forward_window(shape);
    const PanelWeights weights(w, window);
    weights.pack_forward();
    correlate(y, x, bias, weights, window);
}

void data_gradient_of(float* dx, const float* dy, const float* w, const Conv2dShape& shape) {
    const Window window = data_gradient_window(shape);
    const PanelWeights weights(w, window);
    weights.pack_turned();
    correlate(dx, dy, nullptr, weights, window);
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {
namespace {
HWY_EXPORT(forward_of);
HWY_EXPORT(data_gradient_of);
}  // namespace

// Measured on Zen 5 with two threads, milliseconds in place of oneDNN's: forward, data gradient,
// weight gradient; 3 x 3 windows. 512 channels of 4 x 4 pixels: 14.3, 14.6 and 14.7 in place of 34,
// 22 and 20.5 for 128 images; 1.25 and 1.45 in place of 2.39 and 1.67 for 8. 256 channels of 8 x 8:
// 16.9, 17.0 and 17.8 in place of 16.9, 18.6 and 19.9 for 128 images. But the weight gradient from
// 16 x 16 pixels to 8 x 8 takes 14.7 in place of 13.1.
bool pixels_are_faster(ConvDirection direction, const Conv2dShape& s) {
    const bool back = direction == ConvDirection::data_gradient;
    if (back && (s.stride_h > 1 || s.stride_w > 1)) return false;
    const std::int64_t pixels = direction == ConvDirection::forward ? s.oh() * s.ow() : s.h * s.w;
    const std::int64_t in = back ? s.k : s.c, out = back ? s.c : s.k;
    return s.groups == 1 && s.r * s.s > 1 && pixels <= 64 && s.n >= 8 && in >= 64 && out % 64 == 0;
}

void conv2d_forward_pixels(float* y, const float* x, const float* w, const float* bias,
                           const Conv2dShape& shape) {
    HWY_DYNAMIC_DISPATCH(forward_of)(y, x, w, bias, shape);
}

void conv2d_data_gradient_pixels(float* dx, const float* dy, const float* w,
                                 const Conv2dShape& shape) {
    HWY_DYNAMIC_DISPATCH(data_gradient_of)(dx, dy, w, shape);
}

}  // namespace kernels::cpu
#endif
