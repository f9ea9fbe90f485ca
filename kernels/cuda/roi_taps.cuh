#pragma once

#include "cuda/launch.cuh"
#include "cuda/workspace.h"
#include "shared/roi_taps.h"

/// The taps of RoIs along one axis, listed in scratch memory: the twin of cpu::RoiTaps.
namespace kernels::cuda {

/// Room of all RoIs, and where their lists begin in a workspace.
struct RoiTapRoom {
    std::int64_t bins, taps;
    std::size_t first, at, weight;  ///< offsets in bytes

    /// `size`: of the longest axis. A bin of `ratio` samples has two taps each. Otherwise steps are
    /// at most a pixel, so that neighbouring bins share no more pixels than their ends and what is
    /// lost to rounding: less than the axis has again.
    RoiTapRoom(WorkspaceParts& parts, std::int64_t rois, std::int64_t bins_, std::int64_t ratio,
               std::int64_t size, std::size_t weight_bytes)
        : bins(bins_),
          taps(ratio > 0 ? bins_ * std::min(2 * ratio, size + 1) : 2 * size + 4 * bins_),
          first(parts.take(static_cast<std::size_t>(rois * (bins + 1)) * sizeof(int))),
          at(parts.take(static_cast<std::size_t>(rois * taps) * sizeof(int))),
          weight(parts.take(static_cast<std::size_t>(rois * taps) * weight_bytes)) {}
};

template <typename W>
struct RoiTapLists {
    int* first_;  // (rois, bins + 1)
    int* at_;     // (rois, taps)
    W* weight_;
    std::int64_t bins_, taps_;

    RoiTapLists(const RoiTapRoom& room, std::byte* scratch)
        : first_(reinterpret_cast<int*>(scratch + room.first)),
          at_(reinterpret_cast<int*>(scratch + room.at)),
          weight_(reinterpret_cast<W*>(scratch + room.weight)),
          bins_(room.bins),
          taps_(room.taps) {}

    /// One RoI's list.
    struct One {
        int* first;
        int* at;
        W* weight;
    };
    __device__ One of(std::int64_t roi) const {
        return {first_ + roi * (bins_ + 1), at_ + roi * taps_, weight_ + roi * taps_};
    }
};

/// Writes a list: `Taps` of roi::list_taps.
template <typename W>
struct RoiTapWriter {
    typename RoiTapLists<W>::One to;
    std::int64_t room;
    int bin = 0, count_ = 0, begin_ = 0;
    int low = 0, high = -1;  ///< pixels that have a tap, inclusive

    __device__ RoiTapWriter(const typename RoiTapLists<W>::One& list, std::int64_t taps)
        : to(list), room(taps) {
        to.first[0] = 0;
    }
    __device__ std::int64_t count() const { return count_; }
    __device__ std::int64_t begin() const { return begin_; }
    __device__ std::int64_t at(std::int64_t i) const { return to.at[i]; }
    __device__ void add_weight(std::int64_t i, W weight) { to.weight[i] += weight; }
    __device__ void push(std::int64_t place, W weight) {
        if (count_ >= room) return;
        const int pixel = static_cast<int>(place);
        low = count_ == 0 || pixel < low ? pixel : low;
        high = count_ == 0 || pixel > high ? pixel : high;
        to.at[count_] = pixel;
        to.weight[count_] = weight;
        ++count_;
    }
    __device__ void close_bin() {
        begin_ = count_;
        to.first[++bin] = count_;
    }
};

}  // namespace kernels::cuda
