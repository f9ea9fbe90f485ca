#include "data/detection/average_precision.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "data/detection/confusion.h"

namespace engine {
namespace {

constexpr std::size_t most_detections = 100;  // of a class in a picture
constexpr double missing = std::numeric_limits<double>::quiet_NaN();

struct AreaRange {
    double least, most;
    bool holds(double area) const { return least <= area && area <= most; }
};
constexpr std::array<AreaRange, area_ranges> ranges = {
    {{0, 1e10}, {0, 1024}, {1024, 9216}, {9216, 1e10}}};

/// A detection or a truth of the class that is being matched.
struct Outline {
    std::array<double, 4> box{};
    const RunLength* mask = nullptr;  ///< null: boxes are compared
    std::array<double, 4> extent{};   ///< of the mask
    double area = 0;
    double score = 0;                     ///< of a detection
    bool crowd = false, ignored = false;  ///< of a truth; ignored: in every range
};

double overlap(const Outline& detected, const Outline& truth) {
    if (detected.mask == nullptr) return box_overlap(detected.box, truth.box, truth.crowd);
    if (box_overlap(detected.extent, truth.extent, false) == 0) return 0;
    return mask_overlap(*detected.mask, *truth.mask, truth.crowd);
}

/// All of one class in a picture.
class ClassMatcher {
public:
    ClassMatcher(std::vector<Outline> detected, std::vector<Outline> truths)
        : detected_(std::move(detected)), truths_(std::move(truths)) {
        std::stable_sort(detected_.begin(), detected_.end(),
                         [](const auto& a, const auto& b) { return a.score > b.score; });
        if (detected_.size() > most_detections) detected_.resize(most_detections);
        overlaps_.reserve(detected_.size() * truths_.size());
        for (const Outline& each : detected_) {
            for (const Outline& truth : truths_) overlaps_.push_back(overlap(each, truth));
        }
    }

    ClassMatches result(std::int32_t label) {
        ClassMatches out{.label = label};
        for (const Outline& each : detected_) out.detections.push_back({.score = each.score});
        for (std::size_t area = 0; area < area_ranges; ++area) match_area(area, out);
        return out;
    }

private:
    void match_area(std::size_t area, ClassMatches& out) {
        ignored_.clear();
        for (const Outline& each : truths_)
            ignored_.push_back(each.ignored || !ranges[area].holds(each.area));
        order_.resize(truths_.size());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::stable_partition(order_.begin(), order_.end(),
                              [&](std::size_t i) { return !ignored_[i]; });
        out.truths[area] =
            static_cast<std::int32_t>(std::count(ignored_.begin(), ignored_.end(), false));
        for (std::size_t t = 0; t < overlap_thresholds; ++t) match_threshold(area, t, out);
    }

    void match_threshold(std::size_t area, std::size_t t, ClassMatches& out) {
        taken_.assign(truths_.size(), false);
        const auto bit = static_cast<std::uint16_t>(1U << t);
        for (std::size_t i = 0; i < detected_.size(); ++i) {
            const std::size_t found = best_truth(i, overlap_threshold(t));
            auto& entry = out.detections[i];
            bool ignored = !ranges[area].holds(detected_[i].area);
            if (found < truths_.size()) {
                taken_[found] = true;
                entry.matched[area] |= bit;
                ignored = ignored_[found];
            }
            if (ignored) entry.ignored[area] |= bit;
        }
    }

    /// The truth that a detection takes; the number of truths if none.
    std::size_t best_truth(std::size_t detection, double threshold) const {
        double best = std::min(threshold, 1 - 1e-10);
        std::size_t found = truths_.size();
        for (const std::size_t i : order_) {
            // A crowd, and what the metric ignores, may be found by many.
            if (taken_[i] && !truths_[i].ignored) continue;
            if (found < truths_.size() && !ignored_[found] && ignored_[i]) break;
            const double overlap = overlaps_[detection * truths_.size() + i];
            if (!(overlap >= best)) continue;  // NaN is no match
            best = overlap;
            found = i;
        }
        return found;
    }

    std::vector<Outline> detected_, truths_;
    std::vector<double> overlaps_;  // detections × truths
    std::vector<std::size_t> order_;
    std::vector<bool> ignored_, taken_;
};

std::vector<ClassMatches> match_classes(const DetectionTruth& truth,
                                        std::span<const RunLength> truth_masks,
                                        std::span<const Detection> detections, OverlapKind kind) {
    const bool by_mask = kind == OverlapKind::mask;
    struct Lists {
        std::vector<Outline> detected{}, truths{};
    };
    std::map<std::int32_t, Lists> classes;
    for (std::size_t i = 0; i < truth.annotations.size(); ++i) {
        const auto& each = truth.annotations[i];
        if (by_mask && std::holds_alternative<std::monostate>(each.mask)) continue;
        Outline outline{.box = each.box, .area = each.area, .crowd = each.crowd};
        outline.ignored = each.crowd || each.difficult;
        if (by_mask) {
            outline.mask = &truth_masks[i];
            outline.extent = mask_box(truth_masks[i]);
        }
        classes[each.label].truths.push_back(outline);
    }
    for (const Detection& each : detections) {
        if (std::isnan(each.score)) continue;
        Outline outline{.box = each.box, .area = each.box[2] * each.box[3]};
        outline.score = each.score;
        if (by_mask) {
            outline.mask = &each.mask;
            outline.extent = mask_box(each.mask);
            outline.area = static_cast<double>(mask_area(each.mask));
        }
        classes[each.label].detected.push_back(outline);
    }
    std::vector<ClassMatches> matches;
    for (auto& [label, lists] : classes) {
        ClassMatcher matcher(std::move(lists.detected), std::move(lists.truths));
        matches.push_back(matcher.result(label));
    }
    return matches;
}

/// The detections of one class over all pictures, by falling score.
class ClassCurve {
public:
    void add(const ClassMatches& matches) {
        for (std::size_t i = 0; i < area_ranges; ++i) truths_[i] += matches.truths[i];
        for (std::size_t i = 0; i < matches.detections.size(); ++i)
            entries_.push_back({&matches.detections[i], i});
    }
    void sort() {
        std::stable_sort(entries_.begin(), entries_.end(), [](const auto& a, const auto& b) {
            return a.entry->score > b.entry->score;
        });
    }
    std::int64_t truths(std::size_t area) const { return truths_[area]; }

    /// Fills `precision` at the recall points and returns the last recall. `most`: detections of a
    /// picture that count. There is a truth that counts.
    double measure(std::size_t area, std::size_t threshold, std::size_t most,
                   std::array<double, recall_points>& precision) {
        recalls_.clear();
        precisions_.clear();
        const auto all = static_cast<double>(truths_[area]);
        double right = 0, wrong = 0;
        for (const auto& [entry, rank] : entries_) {
            if (rank >= most) continue;
            if ((entry->ignored[area] >> threshold & 1) == 0)
                ((entry->matched[area] >> threshold & 1) != 0 ? right : wrong) += 1;
            recalls_.push_back(right / all);
            precisions_.push_back(right / (wrong + right + 0x1p-52));
        }
        for (std::size_t i = precisions_.size(); i-- > 1;)
            precisions_[i - 1] = std::max(precisions_[i - 1], precisions_[i]);
        std::size_t at = 0;
        for (std::size_t i = 0; i < recall_points; ++i) {
            while (at < recalls_.size() && recalls_[at] < static_cast<double>(i) * 0.01) ++at;
            precision[i] = at < precisions_.size() ? precisions_[at] : 0;
        }
        return recalls_.empty() ? 0 : recalls_.back();
    }

private:
    struct Ranked {
        const ClassMatches::Entry* entry;
        std::size_t rank;  ///< in its picture
    };
    std::array<std::int64_t, area_ranges> truths_{};
    std::vector<Ranked> entries_;
    std::vector<double> recalls_, precisions_;
};

class Mean {
public:
    void add(double value) {
        sum_ += value;
        ++count_;
    }
    double value() const { return count_ > 0 ? sum_ / static_cast<double>(count_) : missing; }

private:
    double sum_ = 0;
    std::int64_t count_ = 0;
};

/// Adds a class to the means behind the twelve figures.
ClassPrecision measure_class(ClassCurve& curve, std::array<Mean, 12>& means) {
    constexpr std::size_t ap50 = 1, ap75 = 2, ap_of_area = 2, ar = 6, ar_of_area = 8;
    ClassPrecision out{.truths = curve.truths(0), .ap = missing, .ap50 = missing, .ap75 = missing};
    out.curve50.fill(missing);
    out.curve75.fill(missing);
    std::array<double, recall_points> precision{};
    for (std::size_t area = 0; area < area_ranges; ++area) {
        if (curve.truths(area) == 0) continue;
        Mean own;
        for (std::size_t t = 0; t < overlap_thresholds; ++t) {
            const double recall = curve.measure(area, t, most_detections, precision);
            means[area == 0 ? ar + 2 : ar_of_area + area].add(recall);
            Mean at_threshold;
            for (const double each : precision) {
                own.add(each);
                at_threshold.add(each);
                means[area == 0 ? 0 : ap_of_area + area].add(each);
            }
            if (area != 0) continue;
            if (t == 0 || t == 5) {
                for (const double each : precision) means[t == 0 ? ap50 : ap75].add(each);
                (t == 0 ? out.ap50 : out.ap75) = at_threshold.value();
                (t == 0 ? out.curve50 : out.curve75) = precision;
            }
            means[ar].add(curve.measure(area, t, 1, precision));
            means[ar + 1].add(curve.measure(area, t, 10, precision));
        }
        if (area == 0) out.ap = own.value();
    }
    return out;
}

}  // namespace

double overlap_threshold(std::size_t index) {
    constexpr double step = (0.95 - 0.5) / 9;
    return index + 1 == overlap_thresholds ? 0.95 : 0.5 + static_cast<double>(index) * step;
}

PictureMatches match_picture(std::int64_t sample, const DetectionTruth& truth,
                             std::span<const Detection> detections, bool masks) {
    PictureMatches out{.sample = sample, .image_id = truth.image_id};
    out.boxes = match_classes(truth, {}, detections, OverlapKind::box);
    out.confusions = find_confusions(truth, detections);
    if (!masks) return out;
    std::vector<RunLength> runs;
    for (const auto& each : truth.annotations)
        runs.push_back(mask_runs(each.mask, truth.height, truth.width));
    out.masks = match_classes(truth, runs, detections, OverlapKind::mask);
    return out;
}

PrecisionFigures average_precision(std::span<const PictureMatches> pictures, OverlapKind kind,
                                   std::int32_t classes) {
    std::vector<ClassCurve> curves(static_cast<std::size_t>(classes));
    for (const PictureMatches& picture : pictures) {
        for (const ClassMatches& each : picture.classes(kind)) {
            if (each.label >= 1 && each.label <= classes)
                curves[static_cast<std::size_t>(each.label - 1)].add(each);
        }
    }
    std::array<Mean, 12> means;
    PrecisionFigures out;
    for (ClassCurve& each : curves) {
        each.sort();
        out.classes.push_back(measure_class(each, means));
    }
    std::transform(means.begin(), means.end(), out.values.begin(),
                   [](const Mean& mean) { return mean.value(); });
    return out;
}

}  // namespace engine
