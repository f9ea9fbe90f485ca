#include "kernels/roi_align.h"

#include <array>
#include <cassert>

#include "cuda/device_math.cuh"
#include "cuda/grid_stride.cuh"
#include "cuda/roi_taps.cuh"

namespace kernels::cuda {
namespace {

constexpr int tile_side = 8, tile_channels = 64;
constexpr int tile_threads = 256;

struct DeviceRoiMap {
    void* data;
    std::int64_t height, width;
    double scale;
    std::int64_t tiles_x, tiles_y, first_tile;  ///< tiles of a picture
};
struct DeviceRoiMaps {
    std::array<DeviceRoiMap, max_roi_maps> map;
    int count;
    std::int64_t tiles;  ///< of all maps of a picture

    explicit DeviceRoiMaps(std::span<const RoiMap> maps)
        : map{}, count(static_cast<int>(maps.size())), tiles(0) {
        for (std::size_t i = 0; i < maps.size(); ++i) {
            const std::int64_t x = (maps[i].width + tile_side - 1) / tile_side,
                               y = (maps[i].height + tile_side - 1) / tile_side;
            map[i] = {maps[i].data, maps[i].height, maps[i].width, maps[i].scale, x, y, tiles};
            tiles += x * y;
        }
    }
};

/// A RoI on its map.
struct PlacedRoi {
    int map, image;                // -1: none
    int top, bottom, left, right;  // pixels that it reads, inclusive
};

/// Facts of the RoIs of a call, in scratch.
template <typename W>
struct RoiTable {
    PlacedRoi* placed;
    W* samples;  // (rois, 2): of a bin along the rows' axis and along the columns'
    RoiTapLists<W> rows, cols;
};

template <typename W>
RoiTable<W> make_table(std::span<const RoiMap> maps, const RoiAlignShape& s, Stream stream) {
    std::int64_t height = 0, width = 0;
    for (const RoiMap& map : maps) {
        height = std::max(height, map.height);
        width = std::max(width, map.width);
    }
    WorkspaceParts parts;
    const auto count = static_cast<std::size_t>(s.rois);
    const std::size_t placed = parts.take(count * sizeof(PlacedRoi));
    const std::size_t samples = parts.take(count * 2 * sizeof(W));
    const RoiTapRoom rows(parts, s.rois, s.out_h, s.sampling_ratio, height, sizeof(W));
    const RoiTapRoom cols(parts, s.rois, s.out_w, s.sampling_ratio, width, sizeof(W));
    auto* const start = static_cast<std::byte*>(workspace(parts.total(), stream));
    return {reinterpret_cast<PlacedRoi*>(start + placed), reinterpret_cast<W*>(start + samples),
            RoiTapLists<W>(rows, start), RoiTapLists<W>(cols, start)};
}

/// A thread lists the taps of one axis of a RoI: of its rows, then of its columns.
template <typename W>
__global__ void place_rois_kernel(RoiTable<W> table, DeviceRoiMaps maps, const W* rois,
                                  RoiAlignShape s) {
    for (std::int64_t i = grid_thread(); i < 2 * s.rois; i += grid_threads()) {
        const std::int64_t k = i / 2;
        const bool of_rows = i % 2 == 0;
        const W* roi = rois + k * 5;
        PlacedRoi& placed = table.placed[k];
        if (!(roi[0] >= 0 && roi[0] < static_cast<W>(s.images))) {
            if (of_rows) placed.map = placed.image = -1;
            continue;
        }
        const auto number = static_cast<int>(roi::map_number(roi, s.canonical_size, maps.count));
        const DeviceRoiMap& map = maps.map[static_cast<std::size_t>(number)];
        const int low = of_rows ? 2 : 1;
        const RoiTapLists<W>& lists = of_rows ? table.rows : table.cols;
        RoiTapWriter<W> writer(lists.of(k), lists.taps_);
        table.samples[i] = roi::list_taps(
            writer, roi::find_span(roi[low], roi[low + 2], static_cast<W>(map.scale), s.aligned),
            of_rows ? s.out_h : s.out_w, s.sampling_ratio, of_rows ? map.height : map.width);
        if (of_rows) {
            placed.map = number;
            placed.image = static_cast<int>(roi[0]);
            placed.top = writer.low;
            placed.bottom = writer.high;
        } else {
            placed.left = writer.low;
            placed.right = writer.high;
        }
    }
}

template <typename T, typename W>
__global__ void roi_align_kernel(T* y, DeviceRoiMaps maps, RoiTable<W> table, RoiAlignShape s) {
    const std::int64_t bins = s.out_h * s.out_w;
    for (std::int64_t i = grid_thread(); i < s.rois * bins * s.channels; i += grid_threads()) {
        const std::int64_t row = i / s.channels, c = i - row * s.channels;
        const std::int64_t k = row / bins, bin = row - k * bins;
        T* const to = s.contiguous ? y + (k * s.channels + c) * bins + bin : y + i;
        const PlacedRoi placed = table.placed[k];
        if (placed.map < 0) {
            *to = narrow<T>(W{0});
            continue;
        }
        const DeviceRoiMap& map = maps.map[static_cast<std::size_t>(placed.map)];
        const T* image = static_cast<const T*>(map.data) +
                         placed.image * map.height * map.width * s.channels + c;
        const auto rows = table.rows.of(k), cols = table.cols.of(k);
        const std::int64_t py = bin / s.out_w, px = bin - py * s.out_w;
        W sum{0};
        for (int r = rows.first[py]; r < rows.first[py + 1]; ++r) {
            const T* const line = image + rows.at[r] * map.width * s.channels;
            for (int x = cols.first[px]; x < cols.first[px + 1]; ++x)
                sum = multiply_add(rows.weight[r] * cols.weight[x],
                                   widen(line[cols.at[x] * s.channels]), sum);
        }
        *to = narrow<T>(sum / (table.samples[2 * k] * table.samples[2 * k + 1]));
    }
}

/// A block sums up a tile of a map for a slice of channels, each element by one thread: it goes
/// through the RoIs in their order, so no atomics are needed.
template <typename T, typename W>
__global__ void roi_align_backward_kernel(DeviceRoiMaps maps, const T* dy, RoiTable<W> table,
                                          RoiAlignShape s) {
    constexpr int row_groups = tile_threads / tile_channels;
    __shared__ W sums[tile_side * tile_side * tile_channels];
    const std::int64_t image = blockIdx.x / maps.tiles, tile = blockIdx.x % maps.tiles;
    int number = maps.count - 1;
    while (maps.map[static_cast<std::size_t>(number)].first_tile > tile) --number;
    const DeviceRoiMap& map = maps.map[static_cast<std::size_t>(number)];
    const std::int64_t in_map = tile - map.first_tile;
    const auto top = static_cast<int>(in_map / map.tiles_x) * tile_side,
               left = static_cast<int>(in_map % map.tiles_x) * tile_side;
    const auto bottom = static_cast<int>(std::min<std::int64_t>(top + tile_side, map.height)),
               right = static_cast<int>(std::min<std::int64_t>(left + tile_side, map.width));
    const int channel = static_cast<int>(threadIdx.x) % tile_channels;
    const int group = static_cast<int>(threadIdx.x) / tile_channels;
    const std::int64_t c = static_cast<std::int64_t>(blockIdx.y) * tile_channels + channel;
    if (c >= s.channels) return;
    const auto sum_at = [&](int y, int x) -> W& {
        return sums[((y - top) * tile_side + x - left) * tile_channels + channel];
    };
    for (int y = top + group; y < bottom; y += row_groups)
        for (int x = left; x < right; ++x) sum_at(y, x) = W{0};
    for (std::int64_t k = 0; k < s.rois; ++k) {
        const PlacedRoi placed = table.placed[k];
        if (placed.map != number || placed.image != image || placed.bottom < top ||
            placed.top >= bottom || placed.right < left || placed.left >= right)
            continue;
        const auto rows = table.rows.of(k), cols = table.cols.of(k);
        const W samples = table.samples[2 * k] * table.samples[2 * k + 1];
        // A bin of the RoI has one tap for a pixel, so each pixel sees its terms in the order of
        // the bins.
        for (std::int64_t py = 0; py < s.out_h; ++py) {
            for (int r = rows.first[py]; r < rows.first[py + 1]; ++r) {
                const int y = rows.at[r];
                if (y < top || y >= bottom || (y - top) % row_groups != group) continue;
                const T* const line = dy + (k * s.out_h + py) * s.out_w * s.channels + c;
                for (std::int64_t px = 0; px < s.out_w; ++px) {
                    for (int i = cols.first[px]; i < cols.first[px + 1]; ++i) {
                        const int x = cols.at[i];
                        if (x < left || x >= right) continue;
                        W& sum = sum_at(y, x);
                        sum = multiply_add(rows.weight[r] * cols.weight[i] / samples,
                                           widen(line[px * s.channels]), sum);
                    }
                }
            }
        }
    }
    T* const to = static_cast<T*>(map.data) + image * map.height * map.width * s.channels + c;
    for (int y = top + group; y < bottom; y += row_groups)
        for (int x = left; x < right; ++x)
            to[(y * map.width + x) * s.channels] = narrow<T>(sum_at(y, x));
}

/// The table of the RoIs, filled.
template <typename W>
RoiTable<W> place_rois(const DeviceRoiMaps& on_device, std::span<const RoiMap> maps,
                       ConstArray rois, const RoiAlignShape& s, Stream stream) {
    const RoiTable<W> table = make_table<W>(maps, s, stream);
    if (s.rois > 0)
        launch("place_rois", place_rois_kernel<W>, grid_for(2 * s.rois), stream, table, on_device,
               static_cast<const W*>(rois.data), s);
    return table;
}

}  // namespace

void roi_align(Array y, std::span<const RoiMap> maps, ConstArray rois, const RoiAlignShape& shape,
               Stream stream) {
    assert(y.size == shape.rois * shape.out_h * shape.out_w * shape.channels);
    assert(rois.size == shape.rois * 5 && !maps.empty() && maps.size() <= max_roi_maps);
    if (y.size == 0) return;
    const DeviceRoiMaps on_device(maps);
    with_floating(y.dtype, [&]<typename T>(T) {
        using W = Compute<T>;
        const RoiTable<W> table = place_rois<W>(on_device, maps, rois, shape, stream);
        launch("roi_align", roi_align_kernel<T, W>, grid_for(y.size), stream,
               static_cast<T*>(y.data), on_device, table, shape);
    });
}

void roi_align_backward(std::span<const RoiMap> maps, ConstArray dy, ConstArray rois,
                        const RoiAlignShape& shape, Stream stream) {
    assert(!shape.contiguous && rois.size == shape.rois * 5 && maps.size() <= max_roi_maps);
    if (shape.channels == 0 || shape.images == 0) return;
    const DeviceRoiMaps on_device(maps);
    const std::int64_t slices = (shape.channels + tile_channels - 1) / tile_channels;
    with_floating(dy.dtype, [&]<typename T>(T) {
        using W = Compute<T>;
        const RoiTable<W> table = place_rois<W>(on_device, maps, rois, shape, stream);
        launch("roi_align_backward", roi_align_backward_kernel<T, W>,
               Grid{on_device.tiles * shape.images, tile_threads, slices}, stream, on_device,
               static_cast<const T*>(dy.data), table, shape);
    });
}

}  // namespace kernels::cuda
