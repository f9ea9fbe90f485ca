#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/host_device.h"

/// Where the bins of a RoI read a map, for host and device alike.
namespace kernels::roi {

/// A part of an axis, in pixels of the map.
template <class W>
struct Span {
    W start, side;
};

/// The RoI's part of an axis. Without `aligned` a side is at least 1.
template <class W>
HALFTONE_HOST_DEVICE Span<W> find_span(W low, W high, W scale, bool aligned) {
    const W offset = aligned ? W{0.5} : W{0};
    const W start = low * scale - offset, side = high * scale - offset - start;
    return {start, aligned ? side : side < 1 ? W{1} : side};
}

/// The map that a RoI (picture, x1, y1, x2, y2) reads: floor(4 + log2(side / canonical_size)),
/// where the first one is number 2. A canonical size of 0: the first.
template <class W>
HALFTONE_HOST_DEVICE std::int64_t map_number(const W* roi, double canonical_size,
                                             std::int64_t maps) {
    if (canonical_size <= 0) return 0;
    const W side = std::sqrt((roi[3] - roi[1]) * (roi[4] - roi[2]));
    const W level =
        std::floor(W{4} + std::log2(side / static_cast<W>(canonical_size)) + static_cast<W>(1e-6));
    if (!(level >= 2)) return 0;
    const W last = static_cast<W>(maps + 1);
    return static_cast<std::int64_t>(level < last ? level : last) - 2;
}

/// Adds a tap to the last bin. `Taps` holds those of an axis: count() of all, begin() of the last
/// bin, at(i), add_weight(i, w), push(at, w) and close_bin().
template <class W, class Taps>
HALFTONE_HOST_DEVICE void add(Taps& taps, std::int64_t at, W weight) {
    for (std::int64_t i = taps.count(); i > taps.begin(); --i) {
        if (taps.at(i - 1) == at) return taps.add_weight(i - 1, weight);
        if (taps.at(i - 1) < at && i == taps.count()) break;
    }
    taps.push(at, weight);
}

/// A sample outside of [-1, size] is 0. A neighbour of weight 0 is read too.
template <class W, class Taps>
HALFTONE_HOST_DEVICE void add_sample(Taps& taps, W place, std::int64_t size) {
    if (!(place >= -1 && place <= static_cast<W>(size))) return;
    place = place < 0 ? W{0} : place;
    const auto low = static_cast<std::int64_t>(place);
    if (low >= size - 1) return add(taps, size - 1, W{1});
    const W share = place - static_cast<W>(low);
    add(taps, low, 1 - share);
    add(taps, low + 1, share);
}

/// Samples of a bin that can lie on the axis: [from, to).
struct SampleRange {
    std::int64_t from, to;
};

/// All of them, but of many only those that can: a RoI of any size costs no more than the axis has
/// pixels.
template <class W>
HALFTONE_HOST_DEVICE SampleRange find_samples(W begin, W step, std::int64_t samples,
                                              std::int64_t size) {
    if (samples <= 64 || !(step > 0)) return {0, samples};
    const auto sample_at = [&](W place) {
        const W at = (place - begin) / step, most = static_cast<W>(samples + 2);
        return static_cast<std::int64_t>(at < W{-2} ? W{-2} : at < most ? at : most);
    };
    const auto limit = [&](std::int64_t i) { return i < 0 ? 0 : i < samples ? i : samples; };
    // The places of many samples are rounded by more than one sample.
    const std::int64_t slack = 2 + (samples >> 20);
    return {limit(sample_at(W{-1}) - slack), limit(sample_at(static_cast<W>(size)) + slack)};
}

/// The bins of a span on an axis of `size` pixels. ratio <= 0: ceil(side / bins) samples a bin.
/// A span that is not finite has no bins.
template <class W>
struct Axis {
    W start, bin;
    std::int64_t grid;  ///< samples of a bin
    std::int64_t size;

    HALFTONE_HOST_DEVICE Axis(const Span<W>& span, std::int64_t bins, std::int64_t ratio,
                              std::int64_t pixels)
        : start(span.start), bin(span.side / static_cast<W>(bins)), grid(0), size(pixels) {
        constexpr W most = static_cast<W>(1 << 30);
        const W whole = std::ceil(bin);
        const W wanted = ratio > 0 ? static_cast<W>(ratio) : whole < most ? whole : most;
        if (std::isfinite(span.start) && std::isfinite(span.side) && wanted > 0)
            grid = static_cast<std::int64_t>(wanted);
    }
    /// By which a bin's sum is divided.
    HALFTONE_HOST_DEVICE W samples() const { return static_cast<W>(grid > 1 ? grid : 1); }

    /// Adds the taps of bin b and closes it.
    template <class Taps>
    HALFTONE_HOST_DEVICE void list_bin(Taps& taps, std::int64_t b) const {
        const W begin = start + static_cast<W>(b) * bin;
        const SampleRange range = find_samples(begin, bin / samples(), grid, size);
        for (std::int64_t i = range.from; i < range.to; ++i)
            add_sample(taps, begin + (static_cast<W>(i) + W{0.5}) * bin / samples(), size);
        taps.close_bin();
    }
};

/// Gives `taps` those of all bins. Returns the samples of a bin, at least 1.
template <class W, class Taps>
HALFTONE_HOST_DEVICE W list_taps(Taps& taps, const Span<W>& span, std::int64_t bins,
                                 std::int64_t ratio, std::int64_t size) {
    const Axis<W> axis(span, bins, ratio, size);
    for (std::int64_t b = 0; b < bins; ++b) axis.list_bin(taps, b);
    return axis.samples();
}

}  // namespace kernels::roi
