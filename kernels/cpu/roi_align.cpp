#include "kernels/roi_align.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <vector>

#include "cpu/grain.h"
#include "cpu/roi_taps.h"
#include "kernels/parallel.h"

#ifndef KERNELS_CPU_ROI_ALIGN_ONCE
#define KERNELS_CPU_ROI_ALIGN_ONCE
namespace kernels::cpu {
namespace {

using I = std::int64_t;

/// A RoI on its map.
template <class W>
struct RoiPlace {
    I map = -1, image = -1;  // -1: none
    RoiTaps<W> rows, cols;
    I top = 0, bottom = -1, left = 0, right = -1;  // pixels that it reads, inclusive
};

/// Taps of one bin: where, in elements, and the weight.
template <class W>
struct BinTaps {
    std::vector<I> offset;
    std::vector<W> weight;
};

template <class W>
RoiPlace<W> place_roi(const W* roi, std::span<const RoiMap> maps, const RoiAlignShape& s) {
    RoiPlace<W> place;
    if (!(roi[0] >= 0 && roi[0] < static_cast<W>(s.images))) return place;
    place.image = static_cast<I>(roi[0]);
    place.map = roi::map_number(roi, s.canonical_size, static_cast<I>(maps.size()));
    const RoiMap& map = maps[static_cast<std::size_t>(place.map)];
    const auto axis = [&](W low, W high, I bins, I size) {
        return make_roi_taps(roi::find_span(low, high, static_cast<W>(map.scale), s.aligned), bins,
                             s.sampling_ratio, size);
    };
    place.rows = axis(roi[2], roi[4], s.out_h, map.height);
    place.cols = axis(roi[1], roi[3], s.out_w, map.width);
    if (!place.rows.at.empty() && !place.cols.at.empty()) {
        const auto [top, bottom] = std::ranges::minmax(place.rows.at);
        const auto [left, right] = std::ranges::minmax(place.cols.at);
        place.top = top, place.bottom = bottom, place.left = left, place.right = right;
    }
    return place;
}

/// The taps of a bin that lie in a window of a map; offsets are of its pixels times `channels`.
struct RoiWindow {
    I top, left, height, width;
};
template <class W>
void collect_taps(BinTaps<W>& taps, const RoiPlace<W>& roi, I py, I px, const RoiWindow& window,
                  I channels) {
    taps.offset.clear();
    taps.weight.clear();
    const auto part = [](const RoiTaps<W>& axis, I bin) {
        return std::pair(axis.first[static_cast<std::size_t>(bin)],
                         axis.first[static_cast<std::size_t>(bin + 1)]);
    };
    const auto [row, rows] = part(roi.rows, py);
    const auto [col, cols] = part(roi.cols, px);
    for (auto r = static_cast<std::size_t>(row); r < static_cast<std::size_t>(rows); ++r) {
        const I y = roi.rows.at[r] - window.top;
        if (y < 0 || y >= window.height) continue;
        for (auto c = static_cast<std::size_t>(col); c < static_cast<std::size_t>(cols); ++c) {
            const I x = roi.cols.at[c] - window.left;
            if (x < 0 || x >= window.width) continue;
            taps.offset.push_back((y * window.width + x) * channels);
            taps.weight.push_back(roi.rows.weight[r] * roi.cols.weight[c]);
        }
    }
}

constexpr I tile_side = 8, tile_channels = 64;

/// A tile of a map of one picture.
struct RoiTile {
    I map, image;
    RoiWindow window;
};

}  // namespace
}  // namespace kernels::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/roi_align.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/loops-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

/// y[c] = sum of weight * x[offset + c], over the number of samples.
template <class T>
void gather_bin(T* y, const T* x, const BinTaps<float>& taps, float samples, I channels) {
    const VF count = hn::Set(DF(), samples);
    for_each_vector(channels, [&](I c, auto part) HWY_ATTR {
        VF sum = hn::Zero(DF());
        for (std::size_t t = 0; t < taps.offset.size(); ++t)
            sum = hn::MulAdd(hn::Set(DF(), taps.weight[t]), part.load(x + taps.offset[t] + c), sum);
        part.store(hn::Div(sum, count), y + c);
    });
}
inline void gather_bin(double* y, const double* x, const BinTaps<double>& taps, double samples,
                       I channels) {
    for (I c = 0; c < channels; ++c) {
        double sum = 0;
        for (std::size_t t = 0; t < taps.offset.size(); ++t)
            sum += taps.weight[t] * x[taps.offset[t] + c];
        y[c] = sum / samples;
    }
}

/// sums[offset + c] += weight / samples * dy[c].
template <class T>
void scatter_bin(float* sums, const T* dy, const BinTaps<float>& taps, float samples, I channels) {
    for_each_vector(channels, [&](I c, auto part) HWY_ATTR {
        const VF g = part.load(dy + c);
        for (std::size_t t = 0; t < taps.offset.size(); ++t) {
            float* to = sums + taps.offset[t] + c;
            part.store(hn::MulAdd(hn::Set(DF(), taps.weight[t] / samples), g, part.load(to)), to);
        }
    });
}
inline void scatter_bin(double* sums, const double* dy, const BinTaps<double>& taps, double samples,
                        I channels) {
    for (std::size_t t = 0; t < taps.offset.size(); ++t)
        for (I c = 0; c < channels; ++c)
            sums[taps.offset[t] + c] += taps.weight[t] / samples * dy[c];
}

template <class T>
void copy_channels(T* y, const float* x, I n) {
    map(y, x, n, [](VF v) HWY_ATTR { return v; });
}
inline void copy_channels(double* y, const double* x, I n) { std::copy_n(x, n, y); }

template <class T, class W>
void align_rois(T* y, std::span<const RoiMap> maps, const W* rois, const RoiAlignShape& s, I begin,
                I end) {
    const I bins = s.out_h * s.out_w, size = bins * s.channels;
    std::vector<T> turned(s.contiguous ? static_cast<std::size_t>(size) : 0);
    BinTaps<W> taps;
    for (I k = begin; k < end; ++k) {
        const RoiPlace<W> roi = place_roi(rois + k * 5, maps, s);
        T* const to = s.contiguous ? turned.data() : y + k * size;
        if (roi.map < 0) {
            std::fill_n(y + k * size, size, T{});
            continue;
        }
        const RoiMap& map = maps[static_cast<std::size_t>(roi.map)];
        const RoiWindow whole{0, 0, map.height, map.width};
        const T* image = static_cast<const T*>(map.data) +
                         roi.image * map.height * map.width * s.channels;
        const W samples = roi.rows.samples * roi.cols.samples;
        for (I bin = 0; bin < bins; ++bin) {
            collect_taps(taps, roi, bin / s.out_w, bin % s.out_w, whole, s.channels);
            gather_bin(to + bin * s.channels, image, taps, samples, s.channels);
        }
        if (!s.contiguous) continue;
        for (I c = 0; c < s.channels; ++c)
            for (I bin = 0; bin < bins; ++bin)
                y[k * size + c * bins + bin] = turned[static_cast<std::size_t>(bin * s.channels + c)];
    }
}

/// One slice of channels of a tile: the terms of its RoIs in their order.
template <class T, class W>
void add_tile(W* sums, const T* dy, const std::vector<RoiPlace<W>>& places,
              const std::vector<I>& rois, const RoiTile& tile, const RoiAlignShape& s, I c, I width) {
    const RoiWindow& window = tile.window;
    BinTaps<W> taps;
    for (const I k : rois) {
        const RoiPlace<W>& roi = places[static_cast<std::size_t>(k)];
        if (roi.bottom < window.top || roi.top >= window.top + window.height ||
            roi.right < window.left || roi.left >= window.left + window.width)
            continue;
        const W samples = roi.rows.samples * roi.cols.samples;
        for (I bin = 0; bin < s.out_h * s.out_w; ++bin) {
            collect_taps(taps, roi, bin / s.out_w, bin % s.out_w, window, width);
            if (taps.offset.empty()) continue;
            scatter_bin(sums, dy + (k * s.out_h * s.out_w + bin) * s.channels + c, taps, samples,
                        width);
        }
    }
}

template <class T, class W>
void fill_tile(const RoiMap& map, const T* dy, const std::vector<RoiPlace<W>>& places,
               const std::vector<I>& rois, const RoiTile& tile, const RoiAlignShape& s) {
    const RoiWindow& window = tile.window;
    W sums[tile_side * tile_side * tile_channels];
    for (I c = 0; c < s.channels; c += tile_channels) {
        const I width = std::min(tile_channels, s.channels - c);
        std::fill_n(sums, window.height * window.width * width, W{0});
        add_tile(sums, dy, places, rois, tile, s, c, width);
        for (I y = 0; y < window.height; ++y)
            for (I x = 0; x < window.width; ++x)
                copy_channels(static_cast<T*>(map.data) +
                                  (((tile.image * map.height + window.top + y) * map.width +
                                    window.left + x) *
                                       s.channels +
                                   c),
                              sums + (y * window.width + x) * width, width);
    }
}

void align_rows(Array y, std::span<const RoiMap> maps, ConstArray rois, const RoiAlignShape& s,
                I begin, I end) {
    if (y.dtype == DType::f64)
        return align_rois(static_cast<double*>(y.data), maps,
                          static_cast<const double*>(rois.data), s, begin, end);
    with_vector_type(y.dtype, [&]<typename T>(T) {
        align_rois(static_cast<T*>(y.data), maps, static_cast<const float*>(rois.data), s, begin,
                   end);
    });
}

void fill_tile_f32(const RoiMap& map, ConstArray dy, const std::vector<RoiPlace<float>>& places,
                   const std::vector<I>& rois, const RoiTile& tile, const RoiAlignShape& s) {
    with_vector_type(dy.dtype, [&]<typename T>(T) {
        fill_tile(map, static_cast<const T*>(dy.data), places, rois, tile, s);
    });
}
void fill_tile_f64(const RoiMap& map, ConstArray dy, const std::vector<RoiPlace<double>>& places,
                   const std::vector<I>& rois, const RoiTile& tile, const RoiAlignShape& s) {
    fill_tile(map, static_cast<const double*>(dy.data), places, rois, tile, s);
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {
namespace {

HWY_EXPORT(align_rows);
HWY_EXPORT(fill_tile_f32);
HWY_EXPORT(fill_tile_f64);

std::vector<RoiTile> make_tiles(std::span<const RoiMap> maps, I images) {
    std::vector<RoiTile> tiles;
    for (I m = 0; m < static_cast<I>(maps.size()); ++m) {
        const RoiMap& map = maps[static_cast<std::size_t>(m)];
        for (I n = 0; n < images; ++n)
            for (I y = 0; y < map.height; y += tile_side)
                for (I x = 0; x < map.width; x += tile_side)
                    tiles.push_back({m, n,
                                     {y, x, std::min(tile_side, map.height - y),
                                      std::min(tile_side, map.width - x)}});
    }
    return tiles;
}

/// A step that meets each of n places once and spreads neighbours over the threads, since RoIs lie
/// close together.
I spreading_step(I n) {
    I step = n * 5 / 8 + 1;
    while (std::gcd(step, n) != 1) ++step;
    return step;
}

template <class W, class Fill>
void fill_tiles(std::span<const RoiMap> maps, ConstArray rois, const RoiAlignShape& s,
                const Fill& fill) {
    std::vector<RoiPlace<W>> places(static_cast<std::size_t>(s.rois));
    std::vector<std::vector<I>> of_image(maps.size() * static_cast<std::size_t>(s.images));
    for (I k = 0; k < s.rois; ++k) {
        auto& place = places[static_cast<std::size_t>(k)];
        place = place_roi(static_cast<const W*>(rois.data) + k * 5, maps, s);
        if (place.map >= 0)
            of_image[static_cast<std::size_t>(place.map * s.images + place.image)].push_back(k);
    }
    const std::vector<RoiTile> tiles = make_tiles(maps, s.images);
    const auto count = static_cast<I>(tiles.size());
    if (count == 0) return;
    const I step = spreading_step(count);
    parallel_for(count, row_grain(tile_side * tile_side * s.channels), [&](I begin, I end) {
        for (I i = begin; i < end; ++i) {
            const RoiTile& tile = tiles[static_cast<std::size_t>(i * step % count)];
            fill(maps[static_cast<std::size_t>(tile.map)], places,
                 of_image[static_cast<std::size_t>(tile.map * s.images + tile.image)], tile);
        }
    });
}

}  // namespace

void roi_align(Array y, std::span<const RoiMap> maps, ConstArray rois, const RoiAlignShape& shape,
               Stream) {
    const I size = shape.out_h * shape.out_w * shape.channels;
    assert(y.size == shape.rois * size && rois.size == shape.rois * 5 && !maps.empty());
    if (y.size == 0) return;
    parallel_for(shape.rois, row_grain(8 * size), [&](I begin, I end) {
        HWY_DYNAMIC_DISPATCH(align_rows)(y, maps, rois, shape, begin, end);
    });
}

void roi_align_backward(std::span<const RoiMap> maps, ConstArray dy, ConstArray rois,
                        const RoiAlignShape& shape, Stream) {
    assert(!shape.contiguous && rois.size == shape.rois * 5);
    if (shape.channels == 0) return;
    if (dy.dtype == DType::f64)
        return fill_tiles<double>(maps, rois, shape, [&](const auto& map, const auto& places,
                                                         const auto& of_image, const RoiTile& tile) {
            HWY_DYNAMIC_DISPATCH(fill_tile_f64)(map, dy, places, of_image, tile, shape);
        });
    fill_tiles<float>(maps, rois, shape, [&](const auto& map, const auto& places,
                                             const auto& of_image, const RoiTile& tile) {
        HWY_DYNAMIC_DISPATCH(fill_tile_f32)(map, dy, places, of_image, tile, shape);
    });
}

}  // namespace kernels::cpu
#endif
