#include "kernels/nms.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "cpu/grain.h"
#include "kernels/parallel.h"
#include "shared/box_formulas.h"

namespace kernels::cpu {
namespace {

using BoxPlaces = std::vector<std::int64_t>;

/// Boxes of one group, by rising left edge. A box can only overlap those that begin left of its
/// right edge, and of these none before the first whose `reach` is beyond its left edge.
struct BoxSweep {
    std::vector<float> x1, y1, x2, y2, area;
    std::vector<float> reach;  // the largest right edge so far
    std::vector<unsigned char> gone;
    BoxPlaces place;  // of the box of each rank

    BoxSweep(const float* boxes, const std::int64_t* ranked, std::int64_t n);
    void suppress(std::size_t by, float limit);
};

BoxSweep::BoxSweep(const float* boxes, const std::int64_t* ranked, std::int64_t n) {
    const auto left = [&](std::int64_t rank) {
        const float x = boxes[ranked[rank] * 4];
        return std::isnan(x) ? std::numeric_limits<float>::infinity() : x;
    };
    BoxPlaces order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::int64_t a, std::int64_t b) { return left(a) < left(b); });
    place.resize(order.size());
    gone.resize(order.size());
    for (auto* column : {&x1, &y1, &x2, &y2, &area, &reach}) column->reserve(order.size());
    float furthest = -std::numeric_limits<float>::infinity();
    for (const std::int64_t rank : order) {
        const float* box = boxes + ranked[rank] * 4;
        place[static_cast<std::size_t>(rank)] = static_cast<std::int64_t>(x1.size());
        x1.push_back(left(rank));
        y1.push_back(box[1]);
        x2.push_back(box[2]);
        y2.push_back(box[3]);
        area.push_back((box[2] - box[0]) * (box[3] - box[1]));
        furthest = std::max(furthest, box[2]);  // a NaN changes nothing
        reach.push_back(furthest);
    }
}

/// Marks what the box at `by` suppresses. Boxes of higher rank have been decided, so marking them
/// changes nothing.
void BoxSweep::suppress(std::size_t by, float limit) {
    const boxes::Corners own_box{x1[by], y1[by], x2[by], y2[by]};
    const float own = area[by];
    if (std::isnan(own)) return;
    const auto begin = std::upper_bound(reach.begin(), reach.end(), own_box.x1) - reach.begin();
    const auto end = std::lower_bound(x1.begin(), x1.end(), own_box.x2) - x1.begin();
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
        const float iou = boxes::find_iou(own_box, own, {x1[i], y1[i], x2[i], y2[i]}, area[i]);
        gone[i] |= static_cast<unsigned char>(iou > limit);
    }
}

/// Which of the ranks of one group stay.
std::vector<unsigned char> kept_ranks(const float* boxes, const std::int64_t* ranked,
                                      std::int64_t n, float limit) {
    BoxSweep sweep(boxes, ranked, n);
    std::vector<unsigned char> kept(static_cast<std::size_t>(n));
    for (std::size_t rank = 0; rank < kept.size(); ++rank) {
        const auto at = static_cast<std::size_t>(sweep.place[rank]);
        if (sweep.gone[at]) continue;
        kept[rank] = 1;
        sweep.suppress(at, limit);
    }
    return kept;
}

/// Places of the boxes by falling score.
BoxPlaces score_ranking(const float* scores, std::int64_t n) {
    BoxPlaces ranked(static_cast<std::size_t>(n));
    std::iota(ranked.begin(), ranked.end(), std::int64_t{0});
    std::stable_sort(ranked.begin(), ranked.end(), [&](std::int64_t a, std::int64_t b) {
        if (std::isnan(scores[b])) return false;
        return std::isnan(scores[a]) || scores[a] > scores[b];
    });
    return ranked;
}

}  // namespace

std::int64_t nms(std::int64_t* keep, const float* boxes, const float* scores,
                 const std::int64_t* groups, std::int64_t n, double threshold) {
    const BoxPlaces ranked = score_ranking(scores, n);
    BoxPlaces ranks(ranked.size());  // by group, then by rank
    std::iota(ranks.begin(), ranks.end(), std::int64_t{0});
    const auto group = [&](std::int64_t rank) {
        return groups ? groups[ranked[static_cast<std::size_t>(rank)]] : 0;
    };
    if (groups)
        std::stable_sort(ranks.begin(), ranks.end(), [&](std::int64_t a, std::int64_t b) {
            return group(a) < group(b);
        });
    BoxPlaces starts;
    for (std::int64_t i = 0; i < n; ++i)
        if (i == 0 || group(ranks[static_cast<std::size_t>(i)]) !=
                          group(ranks[static_cast<std::size_t>(i - 1)]))
            starts.push_back(i);
    starts.push_back(n);
    BoxPlaces by_group(ranked.size());
    for (std::size_t i = 0; i < ranks.size(); ++i)
        by_group[i] = ranked[static_cast<std::size_t>(ranks[i])];

    std::vector<unsigned char> stays(ranked.size());
    const float limit = boxes::limit_below(threshold);
    const auto count = static_cast<std::int64_t>(starts.size()) - 1;
    parallel_for(count, row_grain(count > 0 ? 16 * n / count : 1),
                 [&](std::int64_t begin, std::int64_t end) {
                     for (auto g = static_cast<std::size_t>(begin);
                          g < static_cast<std::size_t>(end); ++g) {
                         const std::int64_t first = starts[g], size = starts[g + 1] - first;
                         const auto kept =
                             kept_ranks(boxes, by_group.data() + first, size, limit);
                         for (std::int64_t i = 0; i < size; ++i)
                             stays[static_cast<std::size_t>(
                                 ranks[static_cast<std::size_t>(first + i)])] =
                                 kept[static_cast<std::size_t>(i)];
                     }
                 });
    std::int64_t kept = 0;
    for (std::size_t rank = 0; rank < stays.size(); ++rank)
        if (stays[rank]) keep[kept++] = ranked[rank];
    return kept;
}

}  // namespace kernels::cpu
