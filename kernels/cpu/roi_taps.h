#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace kernels::cpu {

/// Pixels that the bins of a RoI read along one axis. A bin's mean of bilinear samples is a product of two
/// such sums: its rows' weights times its columns'. W: f32 or f64.
template <class W>
struct RoiTaps {
    std::vector<std::int64_t> first;  // (bins + 1), the taps of each bin
    std::vector<std::int64_t> at;     // rising within a bin, unless its samples fall
    std::vector<W> weight;
    W samples = 1;  // of a bin

    std::int64_t bins() const { return static_cast<std::int64_t>(first.size()) - 1; }
};

namespace roi_taps {

template <class W>
void add(RoiTaps<W>& taps, std::int64_t at, W weight) {
    const auto begin = static_cast<std::size_t>(taps.first.back());
    for (std::size_t i = taps.at.size(); i > begin; --i) {
        if (taps.at[i - 1] == at) {
            taps.weight[i - 1] += weight;
            return;
        }
        if (taps.at[i - 1] < at && i == taps.at.size()) break;
    }
    taps.at.push_back(at);
    taps.weight.push_back(weight);
}

/// A sample outside of [-1, size] is 0. A neighbour of weight 0 is read too.
template <class W>
void add_sample(RoiTaps<W>& taps, W place, std::int64_t size) {
    if (!(place >= -1 && place <= static_cast<W>(size))) return;
    place = std::max(place, W{0});
    const auto low = static_cast<std::int64_t>(place);
    if (low >= size - 1) return add(taps, size - 1, W{1});
    const W share = place - static_cast<W>(low);
    add(taps, low, 1 - share);
    add(taps, low + 1, share);
}

}  // namespace roi_taps

/// The taps of `bins` bins from `start` over `side` pixels of an axis of `size` pixels. ratio <= 0:
/// ceil(side / bins) samples a bin. What is not finite has none.
template <class W>
RoiTaps<W> make_roi_taps(W start, W side, std::int64_t bins, std::int64_t ratio,
                         std::int64_t size) {
    RoiTaps<W> taps;
    taps.first.assign(1, 0);
    const W bin = side / static_cast<W>(bins);
    const bool finite = std::isfinite(start) && std::isfinite(side);
    const W wanted = ratio > 0 ? static_cast<W>(ratio)
                               : std::min(std::ceil(bin), static_cast<W>(1 << 30));
    const std::int64_t grid = finite && wanted > 0 ? static_cast<std::int64_t>(wanted) : 0;
    taps.samples = static_cast<W>(std::max<std::int64_t>(grid, 1));
    const W step = bin / taps.samples;
    for (std::int64_t b = 0; b < bins; ++b) {
        const W begin = start + static_cast<W>(b) * bin;
        std::int64_t from = 0, to = grid;
        if (grid > 64 && step > 0) {  // a RoI of any size costs no more than the axis has pixels
            const auto sample_at = [&](W place) {
                return static_cast<std::int64_t>(
                    std::clamp((place - begin) / step, W{-2}, static_cast<W>(grid + 2)));
            };
            // The places of many samples are rounded by more than one sample.
            const std::int64_t slack = 2 + (grid >> 20);
            from = std::clamp<std::int64_t>(sample_at(W{-1}) - slack, 0, grid);
            to = std::clamp<std::int64_t>(sample_at(static_cast<W>(size)) + slack, 0, grid);
        }
        for (std::int64_t i = from; i < to; ++i)
            roi_taps::add_sample(
                taps, begin + (static_cast<W>(i) + W{0.5}) * bin / taps.samples, size);
        taps.first.push_back(static_cast<std::int64_t>(taps.at.size()));
    }
    return taps;
}

}  // namespace kernels::cpu
