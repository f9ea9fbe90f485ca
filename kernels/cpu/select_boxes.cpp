#include "kernels/select_boxes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "cpu/grain.h"
#include "kernels/nms.h"
#include "kernels/parallel.h"
#include "shared/box_formulas.h"

namespace kernels::cpu {
namespace {

using boxes::Corners;

/// Boxes of all pictures, in the order that decides between equal scores.
struct BoxList {
    std::vector<float> boxes, scores;
    std::vector<std::int64_t> groups, images, labels;

    void add(const Corners& box, float score, std::int64_t group, std::int64_t image,
             std::int64_t label) {
        boxes.insert(boxes.end(), {box.x1, box.y1, box.x2, box.y2});
        scores.push_back(score);
        groups.push_back(group);
        images.push_back(image);
        labels.push_back(label);
    }
    /// Calls f(image, place in its list, box) for what suppression leaves, at most `most` a
    /// picture.
    template <class F>
    void for_each_kept(std::int64_t* counts, std::int64_t images_all, std::int64_t most,
                       double threshold, const F& f) const {
        std::vector<std::int64_t> kept(scores.size());
        const std::int64_t n = nms(kept.data(), boxes.data(), scores.data(), groups.data(),
                                   static_cast<std::int64_t>(scores.size()), threshold);
        std::fill_n(counts, images_all, 0);
        for (std::int64_t i = 0; i < n; ++i) {
            const auto at = static_cast<std::size_t>(kept[static_cast<std::size_t>(i)]);
            const std::int64_t image = images[at];
            if (counts[image] < most) f(image, counts[image]++, at);
        }
    }
};

/// The places of the `count` largest logits, in falling order.
std::vector<std::int64_t> top_places(const float* logits, std::int64_t n, std::int64_t count) {
    std::vector<std::pair<float, std::int64_t>> keyed(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i)  // rising: the largest first
        keyed[static_cast<std::size_t>(i)] = {
            std::isnan(logits[i]) ? std::numeric_limits<float>::infinity() : -logits[i], i};
    const auto end = keyed.begin() + std::min(count, n);
    if (end != keyed.end()) std::nth_element(keyed.begin(), end, keyed.end());
    std::sort(keyed.begin(), end);
    std::vector<std::int64_t> places;
    for (auto each = keyed.begin(); each != end; ++each) places.push_back(each->second);
    return places;
}

}  // namespace

void select_proposals(float* proposals, std::int64_t* counts, std::span<const ProposalLevel> levels,
                      const float* anchors, const std::int64_t* sizes, const ProposalRules& rules,
                      Stream) {
    const auto depth = static_cast<std::int64_t>(levels.size());
    std::vector<const float*> level_anchors;
    std::int64_t total = 0;
    for (const ProposalLevel& level : levels) {
        level_anchors.push_back(anchors + 4 * total);
        total += level.anchors;
    }
    const std::int64_t parts = rules.images * depth;
    std::vector<std::vector<std::pair<Corners, float>>> found(static_cast<std::size_t>(parts));
    parallel_for(
        parts, row_grain(4 * total / std::max<std::int64_t>(depth, 1)),
        [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t part = begin; part < end; ++part) {
                const std::int64_t image = part / depth;
                const auto at = static_cast<std::size_t>(part % depth);
                const ProposalLevel& level = levels[at];
                const float* logits = level.logits + image * level.anchors;
                const float* deltas = level.deltas + image * level.anchors * 4;
                for (const std::int64_t i : top_places(logits, level.anchors, rules.before)) {
                    const Corners box =
                        boxes::clip(boxes::decode(deltas + 4 * i, level_anchors[at] + 4 * i, 1, 1),
                                    sizes + 2 * image);
                    const float score = boxes::logistic(logits[i]);
                    if (boxes::is_large(box, rules.min_side) && score >= 0)
                        found[static_cast<std::size_t>(part)].emplace_back(box, score);
                }
            }
        });
    BoxList list;
    for (std::int64_t part = 0; part < parts; ++part)
        for (const auto& [box, score] : found[static_cast<std::size_t>(part)])
            list.add(box, score, part, part / depth, 0);
    std::fill_n(proposals, rules.images * rules.after * 4, 0.0f);
    list.for_each_kept(counts, rules.images, rules.after, rules.nms_threshold,
                       [&](std::int64_t image, std::int64_t place, std::size_t at) {
                           std::copy_n(list.boxes.data() + 4 * at, 4,
                                       proposals + (image * rules.after + place) * 4);
                       });
}

void select_detections(float* detections, std::int64_t* counts, const float* scores,
                       const float* deltas, const float* rois, const std::int64_t* sizes,
                       const DetectionRules& rules, Stream) {
    BoxList list;
    for (std::int64_t r = 0; r < rules.rois; ++r) {
        const float* roi = rois + 5 * r;
        if (!(roi[0] >= 0 && roi[0] < static_cast<float>(rules.images))) continue;
        const auto image = static_cast<std::int64_t>(roi[0]);
        for (std::int64_t c = 1; c < rules.classes; ++c) {
            const std::int64_t at = r * rules.classes + c;
            if (!(scores[at] > rules.score_threshold)) continue;
            const Corners box =
                boxes::clip(boxes::decode(deltas + 4 * at, roi + 1, 10, 5), sizes + 2 * image);
            if (boxes::is_large(box, rules.min_side))
                list.add(box, scores[at], image * rules.classes + c, image, c);
        }
    }
    std::fill_n(detections, rules.images * rules.detections * 6, 0.0f);
    list.for_each_kept(counts, rules.images, rules.detections, rules.nms_threshold,
                       [&](std::int64_t image, std::int64_t place, std::size_t at) {
                           float* to = detections + (image * rules.detections + place) * 6;
                           std::copy_n(list.boxes.data() + 4 * at, 4, to);
                           to[4] = list.scores[at];
                           to[5] = static_cast<float>(list.labels[at]);
                       });
}

}  // namespace kernels::cpu
