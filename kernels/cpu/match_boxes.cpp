#include "kernels/match_boxes.h"

#include <algorithm>
#include <vector>

#include "cpu/grain.h"
#include "kernels/parallel.h"
#include "shared/box_formulas.h"

namespace kernels::cpu {
namespace {

constexpr std::int64_t match_block = 256;  ///< neighbouring candidates, by columns

/// Candidates of one picture by columns, so that loops over them are vectors.
struct MatchBlock {
    std::int64_t n;
    float x1[match_block], y1[match_block], x2[match_block], y2[match_block], area[match_block];
    float iou[match_block];

    MatchBlock(const float* candidates, std::int64_t count) : n(count) {
        for (std::int64_t i = 0; i < n; ++i) {
            const float* from = candidates + 4 * i;
            x1[i] = from[0], y1[i] = from[1], x2[i] = from[2], y2[i] = from[3];
            area[i] = (x2[i] - x1[i]) * (y2[i] - y1[i]);
        }
    }
    bool is_slot(std::int64_t i) const { return !(x2[i] > x1[i] && y2[i] > y1[i]); }
    void compare(const float* box) {
        const boxes::Corners own = boxes::read_box(box);
        const float own_area = boxes::find_area(own);
        for (std::int64_t i = 0; i < n; ++i)
            iou[i] = boxes::find_iou(own, own_area, {x1[i], y1[i], x2[i], y2[i]}, area[i]);
    }
};

/// One picture, in blocks of candidates that threads share.
class Matching {
public:
    Matching(std::int64_t* y, const float* boxes, const float* candidates, const MatchShape& shape,
             const MatchRules& rules)
        : y_(y), boxes_(boxes), candidates_(candidates), shape_(shape), rules_(rules) {}

    void run() {
        const std::int64_t blocks = (shape_.candidates + match_block - 1) / match_block;
        const std::int64_t grain = row_grain(4 * match_block * std::max<std::int64_t>(shape_.boxes, 1));
        best_of_box_.assign(static_cast<std::size_t>(blocks * shape_.boxes), 0);
        best_.resize(static_cast<std::size_t>(shape_.candidates));
        const auto each = [&](auto visit) {
            parallel_for(blocks, grain, [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t block = begin; block < end; ++block) visit(block);
            });
        };
        each([&](std::int64_t block) { find_best(block); });
        if (!rules_.low_quality || shape_.boxes == 0) return;
        for (std::int64_t block = 1; block < blocks; ++block)
            for (std::int64_t b = 0; b < shape_.boxes; ++b)
                best_of_box_[static_cast<std::size_t>(b)] =
                    std::max(best_of_box_[static_cast<std::size_t>(b)],
                             best_of_box_[static_cast<std::size_t>(block * shape_.boxes + b)]);
        each([&](std::int64_t block) { add_low_quality(block); });
    }

private:
    MatchBlock block_at(std::int64_t block) const {
        const std::int64_t first = block * match_block;
        return {candidates_ + 4 * first, std::min(match_block, shape_.candidates - first)};
    }
    /// The best box of each candidate, and each box's best IoU in this block.
    void find_best(std::int64_t block) {
        MatchBlock at = block_at(block);
        float best[match_block];
        std::int32_t box[match_block] = {};
        std::fill_n(best, at.n, -1.0f);
        for (std::int64_t b = 0; b < shape_.boxes; ++b) {
            at.compare(boxes_ + 4 * b);
            float most = 0;
            for (std::int64_t i = 0; i < at.n; ++i) {
                const bool better = at.iou[i] > best[i];
                best[i] = better ? at.iou[i] : best[i];
                box[i] = better ? static_cast<std::int32_t>(b) : box[i];
                most = std::max(most, at.iou[i]);
            }
            best_of_box_[static_cast<std::size_t>(block * shape_.boxes + b)] = most;
        }
        for (std::int64_t i = 0; i < at.n; ++i) {
            const std::int64_t to = block * match_block + i;
            best_[static_cast<std::size_t>(to)] = box[i];
            y_[to] = at.is_slot(i)             ? matches_nothing
                     : best[i] < rules_.low    ? matches_background
                     : best[i] >= rules_.high  ? box[i]
                                               : matches_nothing;
        }
    }
    void add_low_quality(std::int64_t block) {
        MatchBlock at = block_at(block);
        for (std::int64_t b = 0; b < shape_.boxes; ++b) {
            const float most = best_of_box_[static_cast<std::size_t>(b)];
            if (!(most > 0)) continue;
            at.compare(boxes_ + 4 * b);
            for (std::int64_t i = 0; i < at.n; ++i) {
                const std::int64_t to = block * match_block + i;
                if (at.iou[i] == most && !at.is_slot(i))
                    y_[to] = best_[static_cast<std::size_t>(to)];
            }
        }
    }

    std::int64_t* y_;
    const float* boxes_;
    const float* candidates_;
    const MatchShape& shape_;
    const MatchRules& rules_;
    std::vector<std::int32_t> best_;
    std::vector<float> best_of_box_;  // by block, then all in the first
};

}  // namespace

void match_boxes(std::int64_t* y, const float* boxes, const float* candidates,
                 const MatchShape& shape, const MatchRules& rules, Stream) {
    if (shape.candidates == 0) return;
    for (std::int64_t image = 0; image < shape.images; ++image)
        Matching(y + image * shape.candidates, boxes + image * shape.boxes * 4,
                 candidates + (shape.shared ? 0 : image * shape.candidates * 4), shape, rules)
            .run();
}

}  // namespace kernels::cpu
