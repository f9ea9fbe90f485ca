#include "kernels/select_boxes.h"

#include <array>

#include "cuda/box_groups.cuh"
#include "cuda/grid_stride.cuh"

namespace kernels::cuda {
namespace {

struct DeviceLevels {
    std::array<ProposalLevel, max_proposal_levels> level;
    std::array<std::int64_t, max_proposal_levels> first;  ///< of its anchors
    std::int64_t count;
};

/// A number whose order is that of falling logits, with NaN as -inf.
__device__ std::uint32_t falling_key(float logit) {
    const float rising =
        std::isnan(logit) ? std::numeric_limits<float>::infinity() : -logit + 0.0f;  // one zero
    const unsigned bits = __float_as_uint(rising);
    return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}

/// An anchor that is among the best.
struct ChosenAnchor {
    std::uint32_t key;
    int place;
};

/// A block finds the proposals of a level of a picture. `slots`: of each group.
__global__ void find_proposals_kernel(BoxGroups groups, ChosenAnchor* chosen_, DeviceLevels levels,
                                      const float* anchors, const std::int64_t* sizes,
                                      std::int64_t slots, ProposalRules rules, float limit) {
    const std::int64_t group = blockIdx.x, image = group / levels.count,
                       level = group - image * levels.count;
    const ProposalLevel own = levels.level[static_cast<std::size_t>(level)];
    const float* const logits = own.logits + image * own.anchors;
    const float* const deltas = own.deltas + image * own.anchors * 4;
    const float* const around = anchors + levels.first[static_cast<std::size_t>(level)] * 4;
    const std::int64_t start = group * slots;
    ChosenAnchor* const chosen = chosen_ + start;
    const auto key_of = [&](std::int64_t i, std::uint32_t& key) {
        key = falling_key(logits[i]);
        return true;
    };
    const KeyCut cut = find_cut<group_threads>(own.anchors, rules.before, key_of);
    for_each_chosen<group_threads>(own.anchors, cut, key_of, [&](std::int64_t i, std::int64_t to) {
        chosen[to] = {falling_key(logits[i]), static_cast<int>(i)};
    });
    __syncthreads();
    std::int64_t found = 0;
    for (std::int64_t first = 0; first < cut.taken; first += group_threads) {
        const std::int64_t k = first + threadIdx.x;
        ScoredBox box{};
        bool fits = false;
        if (k < cut.taken) {
            const ChosenAnchor anchor = chosen[k];
            std::int64_t rank = 0;  // they lie in the order of their places
            for (std::int64_t other = 0; other < cut.taken; ++other)
                rank +=
                    chosen[other].key < anchor.key || (chosen[other].key == anchor.key && other < k)
                        ? 1
                        : 0;
            box.box = boxes::clip(
                boxes::decode(deltas + 4 * static_cast<std::int64_t>(anchor.place),
                              around + 4 * static_cast<std::int64_t>(anchor.place), 1, 1),
                sizes + 2 * image);
            box.score = boxes::logistic(logits[anchor.place]);
            box.tie = level << 32 | rank;
            fits = boxes::is_large(box.box, rules.min_side) && box.score >= 0;
        }
        int all;
        const int place = block_offset<group_threads>(fits, all);
        if (fits) groups.found[start + found + place] = box;
        found += all;
    }
    __syncthreads();
    const std::int64_t kept = suppress_group(groups, start, found, limit);
    if (threadIdx.x == 0) {
        groups.starts[group] = start;
        groups.counts[group] = kept;
    }
}

struct WriteProposal {
    float* to;
    std::int64_t most;

    __device__ void operator()(std::int64_t image, std::int64_t place,
                               const ScoredBox& found) const {
        float* const row = to + (image * most + place) * 4;
        row[0] = found.box.x1;
        row[1] = found.box.y1;
        row[2] = found.box.x2;
        row[3] = found.box.y2;
    }
};

/// A block finds the detections of a class of a picture.
__global__ void find_detections_kernel(BoxGroups groups, const float* scores, const float* deltas,
                                       const float* rois, const std::int64_t* sizes,
                                       DetectionRules rules, float limit) {
    const std::int64_t group = blockIdx.x, each = rules.classes - 1, image = group / each,
                       label = group - image * each + 1;
    const auto is_candidate = [&](std::int64_t r) {
        const float picture = rois[5 * r];
        return picture >= 0 && picture < static_cast<float>(rules.images) &&
               static_cast<std::int64_t>(picture) == image &&
               scores[r * rules.classes + label] > rules.score_threshold;
    };
    __shared__ std::int64_t reserved, fitting;
    std::int64_t candidates = 0;
    for (std::int64_t first = 0; first < rules.rois; first += group_threads) {
        const std::int64_t r = first + threadIdx.x;
        int all;
        block_offset<group_threads>(r < rules.rois && is_candidate(r), all);
        candidates += all;
    }
    if (threadIdx.x == 0) {
        // Where a list lies depends on the order of the blocks; what is in it does not.
        using Word = unsigned long long;
        reserved = static_cast<std::int64_t>(
            atomicAdd(reinterpret_cast<Word*>(groups.used), static_cast<Word>(candidates)));
        // More scores above the threshold than a sum of 1 has room for: no softmax.
        const std::int64_t left = groups.room - reserved;
        fitting = candidates < left ? candidates : left > 0 ? left : 0;
    }
    __syncthreads();
    const std::int64_t start = fitting > 0 ? reserved : 0;
    std::int64_t found = 0;
    for (std::int64_t first = 0; first < rules.rois; first += group_threads) {
        const std::int64_t r = first + threadIdx.x;
        ScoredBox box{};
        bool fits = r < rules.rois && is_candidate(r);
        if (fits) {
            const std::int64_t at = r * rules.classes + label;
            box.box = boxes::clip(boxes::decode(deltas + 4 * at, rois + 5 * r + 1, 10, 5),
                                  sizes + 2 * image);
            box.score = scores[at];
            box.tie = r << 32 | label;
            fits = boxes::is_large(box.box, rules.min_side);
        }
        int all;
        const int place = block_offset<group_threads>(fits, all);
        if (fits && found + place < fitting) groups.found[start + found + place] = box;
        found += all;
    }
    __syncthreads();
    const std::int64_t kept =
        suppress_group(groups, start, found < fitting ? found : fitting, limit);
    if (threadIdx.x == 0) {
        groups.starts[group] = start;
        groups.counts[group] = kept;
    }
}

struct WriteDetection {
    float* to;
    std::int64_t most;

    __device__ void operator()(std::int64_t image, std::int64_t place,
                               const ScoredBox& found) const {
        float* const row = to + (image * most + place) * 6;
        row[0] = found.box.x1;
        row[1] = found.box.y1;
        row[2] = found.box.x2;
        row[3] = found.box.y2;
        row[4] = found.score;
        row[5] = static_cast<float>(found.tie & 0xffffffff);
    }
};

void clear(float* boxes, std::int64_t* counts, std::int64_t images, std::int64_t numbers,
           Stream stream) {
    set_zero(boxes, static_cast<std::size_t>(images * numbers) * sizeof(float), stream);
    set_zero(counts, static_cast<std::size_t>(images) * sizeof(std::int64_t), stream);
}

}  // namespace

void select_proposals(float* proposals, std::int64_t* counts, std::span<const ProposalLevel> levels,
                      const float* anchors, const std::int64_t* sizes, const ProposalRules& rules,
                      Stream stream) {
    clear(proposals, counts, rules.images, rules.after * 4, stream);
    DeviceLevels on_device{{}, {}, static_cast<std::int64_t>(levels.size())};
    std::int64_t anchors_so_far = 0, slots = 0;
    for (std::size_t i = 0; i < levels.size(); ++i) {
        on_device.level[i] = levels[i];
        on_device.first[i] = anchors_so_far;
        anchors_so_far += levels[i].anchors;
        slots = std::max(slots, std::min(rules.before, levels[i].anchors));
    }
    const std::int64_t groups = rules.images * on_device.count;
    if (groups == 0 || slots == 0) return;
    std::byte* rest = nullptr;
    const BoxGroups lists =
        make_groups(groups, groups * slots,
                    static_cast<std::size_t>(groups * slots) * sizeof(ChosenAnchor), rest, stream);
    launch("find_proposals", find_proposals_kernel, Grid{groups, group_threads}, stream, lists,
           reinterpret_cast<ChosenAnchor*>(rest), on_device, anchors, sizes, slots, rules,
           boxes::limit_below(rules.nms_threshold));
    launch("merge_proposals", merge_groups_kernel<WriteProposal>, Grid{groups, group_threads},
           stream, counts, lists, on_device.count, rules.after,
           WriteProposal{proposals, rules.after});
}

void select_detections(float* detections, std::int64_t* counts, const float* scores,
                       const float* deltas, const float* rois, const std::int64_t* sizes,
                       const DetectionRules& rules, Stream stream) {
    clear(detections, counts, rules.images, rules.detections * 6, stream);
    const std::int64_t each = rules.classes - 1, groups = rules.images * each;
    if (groups <= 0 || rules.rois == 0) return;
    // Scores sum to 1, so only so many of a RoI's are above the threshold.
    const double above = 1 / static_cast<double>(rules.score_threshold) + 1;
    const std::int64_t of_roi = rules.score_threshold > 0 && above < static_cast<double>(each)
                                    ? static_cast<std::int64_t>(above)
                                    : each;
    std::byte* rest = nullptr;
    const BoxGroups lists = make_groups(groups, rules.rois * of_roi, 0, rest, stream);
    launch("find_detections", find_detections_kernel, Grid{groups, group_threads}, stream, lists,
           scores, deltas, rois, sizes, rules, boxes::limit_below(rules.nms_threshold));
    launch("merge_detections", merge_groups_kernel<WriteDetection>, Grid{groups, group_threads},
           stream, counts, lists, each, rules.detections,
           WriteDetection{detections, rules.detections});
}

}  // namespace kernels::cuda
