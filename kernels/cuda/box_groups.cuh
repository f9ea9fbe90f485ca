#pragma once

#include "cuda/block_select.cuh"
#include "cuda/workspace.h"
#include "kernels/cuda_device.h"
#include "shared/box_formulas.h"

/// Groups of boxes whose suppression does not depend on each other: the levels of a picture's
/// proposals, the classes of its detections. A block computes a group; then the groups of a picture
/// are merged.
namespace kernels::cuda {

constexpr int group_threads = 256;

struct ScoredBox {
    boxes::Corners box;
    float score;
    std::int64_t tie;  ///< decides between equal scores, the smaller first; differs in a picture

    __device__ bool goes_before(const ScoredBox& other) const {
        return score > other.score || (score == other.score && tie < other.tie);
    }
};

/// Lists of all groups, `room` boxes together.
struct BoxGroups {
    ScoredBox *found, *sorted;
    int* gone;
    std::int64_t *starts, *counts;  ///< by group: where its list lies, and how long it is
    std::int64_t* used;             ///< of `room`, by all groups
    std::int64_t room;
};

/// Lists in the stream's scratch, and `more` bytes behind them, none of it filled but `used`, which
/// is 0.
inline BoxGroups make_groups(std::int64_t groups, std::int64_t room, std::size_t more,
                             std::byte*& rest, Stream stream) {
    WorkspaceParts parts;
    const auto boxes = static_cast<std::size_t>(room), each = static_cast<std::size_t>(groups);
    const std::size_t found = parts.take(boxes * sizeof(ScoredBox)),
                      sorted = parts.take(boxes * sizeof(ScoredBox)),
                      gone = parts.take(boxes * sizeof(int)),
                      starts = parts.take(each * sizeof(std::int64_t)),
                      counts = parts.take(each * sizeof(std::int64_t)),
                      used = parts.take(sizeof(std::int64_t)), behind = parts.take(more);
    auto* const start = static_cast<std::byte*>(workspace(parts.total(), stream));
    rest = start + behind;
    set_zero(start + used, sizeof(std::int64_t), stream);
    return {reinterpret_cast<ScoredBox*>(start + found),
            reinterpret_cast<ScoredBox*>(start + sorted),
            reinterpret_cast<int*>(start + gone),
            reinterpret_cast<std::int64_t*>(start + starts),
            reinterpret_cast<std::int64_t*>(start + counts),
            reinterpret_cast<std::int64_t*>(start + used),
            room};
}

/// Greedy suppression of `n` boxes from `start` on, found in any order; leaves the kept ones at the
/// front of `found` in theirs and returns how many there are. All threads of a block call, after a
/// barrier.
__device__ inline std::int64_t suppress_group(const BoxGroups& groups, std::int64_t start,
                                              std::int64_t n, float limit) {
    ScoredBox* const found = groups.found + start;
    ScoredBox* const sorted = groups.sorted + start;
    int* const gone = groups.gone + start;
    const std::int64_t thread = threadIdx.x;
    for (std::int64_t i = thread; i < n; i += group_threads) {
        const ScoredBox own = found[i];
        std::int64_t rank = 0;
        for (std::int64_t k = 0; k < n; ++k) rank += found[k].goes_before(own) ? 1 : 0;
        sorted[rank] = own;
        gone[i] = 0;
    }
    __syncthreads();
    // A barrier for each box that stays: the next one reads what it suppressed.
    for (std::int64_t i = 0; i < n; ++i) {
        if (gone[i] != 0) continue;
        const boxes::Corners own = sorted[i].box;
        const float area = boxes::find_area(own);
        for (std::int64_t k = i + 1 + thread; k < n; k += group_threads) {
            const boxes::Corners other = sorted[k].box;
            if (boxes::find_iou(own, area, other, boxes::find_area(other)) > limit) gone[k] = 1;
        }
        __syncthreads();
    }
    std::int64_t kept = 0;
    for (std::int64_t first = 0; first < n; first += group_threads) {
        const std::int64_t i = first + thread;
        const bool stays = i < n && gone[i] == 0;
        int all;
        const int place = block_offset<group_threads>(stays, all);
        if (stays) found[kept + place] = sorted[i];
        kept += all;
    }
    return kept;
}

/// Merges the groups of each picture by score and keeps `most`; a block for each group.
/// write(image, place, box).
template <typename Write>
__global__ void merge_groups_kernel(std::int64_t* counts, BoxGroups groups, std::int64_t each,
                                    std::int64_t most, Write write) {
    const std::int64_t group = blockIdx.x, image = group / each, first = image * each;
    const ScoredBox* const own = groups.found + groups.starts[group];
    const std::int64_t n = groups.counts[group];
    for (std::int64_t i = threadIdx.x; i < n && i < most; i += group_threads) {
        const ScoredBox box = own[i];
        std::int64_t place = i;
        for (std::int64_t other = first; other < first + each && place < most; ++other) {
            if (other == group) continue;
            const ScoredBox* const list = groups.found + groups.starts[other];
            std::int64_t low = 0, high = groups.counts[other];
            while (low < high) {
                const std::int64_t middle = (low + high) / 2;
                if (list[middle].goes_before(box))
                    low = middle + 1;
                else
                    high = middle;
            }
            place += low;
        }
        if (place < most) write(image, place, box);
    }
    if (group != first || threadIdx.x != 0) return;
    std::int64_t all = 0;
    for (std::int64_t other = first; other < first + each; ++other) all += groups.counts[other];
    counts[image] = all < most ? all : most;
}

}  // namespace kernels::cuda
