#pragma once

#include <cstdint>
#include <vector>

#include "shared/roi_taps.h"

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

/// The taps of `bins` bins over a part of an axis of `size` pixels (roi::list_taps).
template <class W>
RoiTaps<W> make_roi_taps(const roi::Span<W>& span, std::int64_t bins, std::int64_t ratio,
                         std::int64_t size) {
    struct Writer {
        RoiTaps<W>& to;
        std::int64_t count() const { return static_cast<std::int64_t>(to.at.size()); }
        std::int64_t begin() const { return to.first.back(); }
        std::int64_t at(std::int64_t i) const { return to.at[static_cast<std::size_t>(i)]; }
        void add_weight(std::int64_t i, W weight) {
            to.weight[static_cast<std::size_t>(i)] += weight;
        }
        void push(std::int64_t at, W weight) {
            to.at.push_back(at);
            to.weight.push_back(weight);
        }
        void close_bin() { to.first.push_back(count()); }
    };
    RoiTaps<W> taps;
    taps.first.assign(1, 0);
    Writer writer{taps};
    taps.samples = roi::list_taps(writer, span, bins, ratio, size);
    return taps;
}

}  // namespace kernels::cpu
