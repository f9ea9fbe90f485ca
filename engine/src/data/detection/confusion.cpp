#include "data/detection/confusion.h"

#include <algorithm>

namespace engine {
namespace {

constexpr double confident = 0.25, same_place = 0.5;

struct Pair {
    double overlap;
    std::size_t truth, detection;
};

bool is_right(const ClassMatches::Entry& entry) {
    return (entry.matched[0] & 1) != 0 && (entry.ignored[0] & 1) == 0;
}
bool is_wrong(const ClassMatches::Entry& entry) {
    return (entry.matched[0] & 1) == 0 && (entry.ignored[0] & 1) == 0;
}

}  // namespace

std::vector<std::array<std::int32_t, 2>> find_confusions(const DetectionTruth& truth,
                                                         std::span<const Detection> detections) {
    std::vector<Pair> pairs;
    std::vector<bool> over_ignored(detections.size()), seen(detections.size());
    std::vector<bool> found(truth.annotations.size());
    for (std::size_t i = 0; i < truth.annotations.size(); ++i) {
        const auto& each = truth.annotations[i];
        for (std::size_t k = 0; k < detections.size(); ++k) {
            if (!(detections[k].score >= confident)) continue;
            const double overlap = box_overlap(detections[k].box, each.box, each.crowd);
            if (!(overlap >= same_place)) continue;  // NaN is no match
            if (each.crowd || each.difficult)
                over_ignored[k] = true;
            else
                pairs.push_back({overlap, i, k});
        }
    }
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const Pair& a, const Pair& b) { return a.overlap > b.overlap; });
    std::vector<std::array<std::int32_t, 2>> out;
    for (const Pair& each : pairs) {
        if (found[each.truth] || seen[each.detection]) continue;
        found[each.truth] = seen[each.detection] = true;
        out.push_back({truth.annotations[each.truth].label, detections[each.detection].label});
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
        const auto& each = truth.annotations[i];
        if (!found[i] && !each.crowd && !each.difficult) out.push_back({each.label, 0});
    }
    for (std::size_t k = 0; k < seen.size(); ++k) {
        if (!seen[k] && !over_ignored[k] && detections[k].score >= confident)
            out.push_back({0, detections[k].label});
    }
    return out;
}

std::map<std::array<std::int32_t, 2>, std::int64_t> confusion_counts(
    std::span<const PictureMatches> pictures) {
    std::map<std::array<std::int32_t, 2>, std::int64_t> counts;
    for (const PictureMatches& picture : pictures) {
        for (const auto& each : picture.confusions) ++counts[each];
    }
    return counts;
}

BestF1 best_f1(std::span<const PictureMatches> pictures, OverlapKind kind) {
    std::vector<const ClassMatches::Entry*> entries;
    std::int64_t truths = 0;
    for (const PictureMatches& picture : pictures) {
        for (const ClassMatches& each : picture.classes(kind)) {
            truths += each.truths[0];
            for (const auto& entry : each.detections) entries.push_back(&entry);
        }
    }
    std::sort(entries.begin(), entries.end(),
              [](const auto* a, const auto* b) { return a->score > b->score; });
    BestF1 best;
    std::int64_t right = 0, wrong = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        right += is_right(*entries[i]);
        wrong += is_wrong(*entries[i]);
        // A threshold takes all detections of its score.
        if (i + 1 < entries.size() && entries[i + 1]->score == entries[i]->score) continue;
        const double f1 = 2 * static_cast<double>(right) /
                          static_cast<double>(std::max<std::int64_t>(1, right + wrong + truths));
        if (f1 <= best.f1) continue;
        best = {.score = entries[i]->score,
                .f1 = f1,
                .precision = static_cast<double>(right) / static_cast<double>(right + wrong),
                .recall = static_cast<double>(right) / static_cast<double>(truths)};
    }
    return best;
}

std::vector<PictureErrors> most_errors(std::span<const PictureMatches> pictures, OverlapKind kind,
                                       std::size_t most) {
    std::vector<PictureErrors> all;
    for (const PictureMatches& picture : pictures) {
        PictureErrors errors{.sample = picture.sample};
        for (const ClassMatches& each : picture.classes(kind)) {
            errors.missed += each.truths[0];
            for (const auto& entry : each.detections) {
                errors.missed -= is_right(entry);
                if (is_wrong(entry)) errors.false_scores += entry.score;
            }
        }
        if (errors.total() > 0) all.push_back(errors);
    }
    std::stable_sort(all.begin(), all.end(), [](const PictureErrors& a, const PictureErrors& b) {
        return a.total() > b.total();
    });
    if (all.size() > most) all.resize(most);
    return all;
}

}  // namespace engine
