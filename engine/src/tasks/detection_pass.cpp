#include "tasks/detection_pass.h"

#include <algorithm>
#include <span>
#include <vector>

#include "ops/detection/anchors.h"
#include "ops/detection/balanced_sample.h"
#include "ops/detection/boxes.h"
#include "ops/detection/gather_anchors.h"
#include "ops/detection/mask_targets.h"
#include "ops/detection/match_boxes.h"
#include "ops/detection/roi_align.h"
#include "ops/detection/select_boxes.h"
#include "ops/index/gather.h"
#include "ops/loss/cross_entropy.h"
#include "ops/loss/loss.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/layout.h"

namespace engine {
namespace {

using Index = std::vector<std::int64_t>;

/// Which draws of a picture an operation uses.
enum Substream : std::int64_t { anchor_draws = 0, roi_draws = 1 };

const std::vector<double> plain_weights{1, 1, 1, 1}, head_weights{10, 10, 5, 5};
constexpr double smooth_below = 1.0 / 9;
constexpr std::int64_t box_columns = 4, roi_columns = 5, found_columns = 6;

// Choices are few and made on the host, where the operations that choose run, too.

Index host_index(const Tensor& x) {
    const GradMode off(false);
    const Tensor dense = in_layout(x, Layout::contiguous).copy_to(Device{});
    const auto* first = dense.data_as<std::int64_t>();
    return {first, first + dense.numel()};
}

/// i64 (n)
Tensor device_index(const Index& values, const Device& device) {
    const Tensor host =
        Tensor::empty({static_cast<std::int64_t>(values.size())}, DType::i64, Device{});
    std::ranges::copy(values, host.data_as<std::int64_t>());
    return host.copy_to(device);
}

/// Rows of x at `index`, and rows of zeros for -1. The rows do not depend on what others hold.
Tensor rows(const Tensor& x, const Index& index) {
    return rows_or_zeros(x, 0, device_index(index, x.device()));
}

Tensor f32(const Tensor& x) { return to(x, DType::f32); }

std::int64_t at_least_one(std::size_t count) {
    return std::max<std::int64_t>(static_cast<std::int64_t>(count), 1);
}

/// `sum` as a mean of so many; of none it is 0 already.
Tensor mean_of(const Tensor& sum, std::int64_t count) {
    return div(sum, Tensor::scalar(static_cast<double>(count), DType::f32, sum.device()));
}

/// A list without an entry has one empty slot instead, so that each network gets a gradient, of 0.
Index or_empty_slot(Index index) {
    if (index.empty()) index.push_back(-1);
    return index;
}

/// A region of a picture, and the object that it is compared with.
struct Roi {
    std::int64_t row;     ///< among all candidates
    std::int64_t object;  ///< row among the objects of all pictures, -1: background
};

class Pass {
public:
    Pass(const TaskStep& step, const Scenes& scenes, TeachBoxes geometry)
        : step_(step),
          geometry_(geometry),
          model_(dynamic_cast<DetectionModel&>(step.model())),
          scenes_(scenes),
          device_(scenes.images.device()) {}

    DetectionPass run(const Proposals* given) {
        read_pictures();
        propose(given);
        if (scenes_.boxes.defined()) {
            anchor_losses();
            sample_rois();
            box_losses();
            if (plan().masks) mask_loss();
            add_up();
        }
        if (!step_.training()) find();
        return out_;
    }

private:
    const DetectionPlan& plan() const { return model_.plan(); }
    std::int64_t pictures() const { return scenes_.images.size(0); }

    void read_pictures() {
        const TensorList maps = step_.with_casts({scenes_.images}, [&](const TensorList& in) {
            features_ = model_.features(in.front());
            anchor_scores_ = model_.anchor_head(features_);
            TensorList out = anchor_scores_.logits;
            out.insert(out.end(), anchor_scores_.deltas.begin(), anchor_scores_.deltas.end());
            return out;
        });
        const auto middle = maps.begin() + std::ssize(features_);
        anchor_scores_ = {{maps.begin(), middle}, {middle, maps.end()}};
        anchors_ = anchors(features_, {scenes_.images.size(2), scenes_.images.size(3)},
                           plan().anchor_sizes);
        if (geometry_ == TeachBoxes::low)
            anchors_ = f32(to(anchors_, anchor_scores_.deltas.front().dtype()));
    }

    /// Boxes (..., 4) as their decoding in 16 bits leaves them: centre and sides are rounded, and
    /// the corners that are computed of them.
    Tensor decoded(const Tensor& boxes) const {
        if (geometry_ != TeachBoxes::low) return boxes;
        const GradMode off(false);
        const DType type = anchor_scores_.deltas.front().dtype();
        const std::int64_t last = boxes.rank() - 1;
        const Tensor low = narrow(boxes, last, 0, 2), high = narrow(boxes, last, 2, 2);
        const Tensor half = mul(to(sub(high, low), type), 0.5);
        const Tensor centre = to(mul(add(high, low), 0.5), type);
        return f32(cat({sub(centre, half), add(centre, half)}, last));
    }

    void propose(const Proposals* given) {
        if (given != nullptr) {
            out_.proposals = *given;
            return;
        }
        const std::size_t phase = step_.training() ? 0 : 1;
        const TensorList chosen = select_proposals(
            anchor_scores_.logits, anchor_scores_.deltas, anchors_, scenes_.sizes,
            {.before = plan().proposals_before[phase], .after = plan().proposals_after[phase]});
        out_.proposals = {decoded(chosen[0]), chosen[1]};
    }

    void anchor_losses() {
        const Tensor matched = match_boxes(scenes_.boxes, anchors_);
        const TensorList taken = balanced_sample(matched, scenes_.draws,
                                                 {.count = plan().anchors_sampled,
                                                  .positives = plan().anchors_sampled / 2,
                                                  .substream = anchor_draws});
        const Index object = host_index(matched), sampled = host_index(taken[0]);
        const std::int64_t count = anchors_.size(0), objects = scenes_.boxes.size(1);
        Index index, positive, own_anchor, own_object;
        std::vector<double> wanted;
        for (const std::int64_t row : sampled) {
            if (row < 0) break;
            const std::int64_t number = object[static_cast<std::size_t>(row)];
            index.push_back(row);
            wanted.push_back(number >= 0 ? 1 : 0);
            if (number < 0) continue;
            positive.push_back(row);
            own_anchor.push_back(row % count);
            own_object.push_back(row / count * objects + number);
        }
        const std::int64_t terms = at_least_one(index.size());
        out_.objectness = logits_loss(read_anchors(anchor_scores_.logits, index), wanted, terms);
        const Tensor target = positive.empty()
                                  ? empty_boxes()
                                  : box_encode(rows(all_boxes(), own_object),
                                               rows(anchors_, own_anchor), plain_weights);
        out_.rpn_box_reg = boxes_loss(read_anchors(anchor_scores_.deltas, positive), target, terms);
    }

    Tensor read_anchors(const TensorList& maps, const Index& index) const {
        return f32(
            gather_anchors(maps, device_index(or_empty_slot(index), device_), anchor_ratios));
    }

    /// Cross entropy of (n, 1) logits; an empty slot counts 0.
    Tensor logits_loss(const Tensor& logits, std::vector<double> wanted, std::int64_t terms) const {
        const double weight = wanted.empty() ? 0 : 1;
        wanted.resize(static_cast<std::size_t>(logits.numel()));
        const Tensor target = Tensor::of(wanted, logits.shape(), DType::f32, device_);
        const Tensor weights =
            weight == 0 ? Tensor::zeros(logits.shape(), DType::f32, device_) : Tensor();
        return mean_of(
            binary_cross_entropy_with_logits(logits, target, weights, {}, Reduction::sum), terms);
    }

    static Tensor boxes_loss(const Tensor& deltas, const Tensor& target, std::int64_t terms) {
        return mean_of(smooth_l1_loss(deltas, target, Reduction::sum, smooth_below), terms);
    }

    Tensor all_boxes() const { return reshape(scenes_.boxes, {-1, box_columns}); }
    Tensor empty_boxes() const { return Tensor::zeros({1, box_columns}, DType::f32, device_); }

    /// Candidates of a picture are its proposals, then its objects.
    void sample_rois() {
        const Tensor candidates = cat({out_.proposals.boxes, scenes_.boxes}, 1);
        const Tensor matched =
            match_boxes(scenes_.boxes, candidates, {.high = 0.5, .low = 0.5, .low_quality = false});
        const TensorList taken = balanced_sample(matched, scenes_.draws,
                                                 {.count = plan().rois_sampled,
                                                  .positives = plan().rois_sampled / 4,
                                                  .substream = roi_draws});
        const Index object = host_index(matched);
        const std::int64_t each = candidates.size(1), objects = scenes_.boxes.size(1);
        for (const std::int64_t row : host_index(taken[0])) {
            if (row < 0) break;
            const std::int64_t number = object[static_cast<std::size_t>(row)];
            sampled_.push_back({row, number < 0 ? -1 : row / each * objects + number});
        }
        candidates_ = reshape(candidates, {-1, box_columns});
    }

    /// (n, 5) of these candidates or, of none, an empty slot.
    Tensor rois_of(const Index& index) const {
        return make_rois(candidates_, index, candidates_.size(0) / pictures());
    }
    /// Boxes (N each, 4) to rois.
    Tensor make_rois(const Tensor& boxes, const Index& index, std::int64_t each) const {
        std::vector<double> picture;
        for (const std::int64_t row : or_empty_slot(index))
            picture.push_back(row < 0 ? -1 : static_cast<double>(row / each));
        const auto count = static_cast<std::int64_t>(picture.size());
        return cat({Tensor::of(picture, {count, 1}, DType::f32, device_),
                    rows(boxes, or_empty_slot(index))},
                   1);
    }

    DetectionModel::BoxScores classify(const Tensor& rois) const {
        const Tensor regions = multi_scale_roi_align(
            region_maps(), rois, {DetectionModel::box_side, DetectionModel::box_side},
            plan().canonical_size, 2, /*contiguous=*/true);
        const TensorList scores = step_.with_casts({regions}, [&](const TensorList& in) {
            const auto made = model_.box_head(in.front());
            return TensorList{made.logits, made.deltas};
        });
        return {f32(scores[0]), f32(scores[1])};
    }

    /// The maps without the last, which anchors alone read.
    TensorList region_maps() const { return {features_.begin(), features_.end() - 1}; }

    void box_losses() {
        const Index labels = host_index(scenes_.labels);
        Index index, own_label, positive, own_object, deltas_row;
        for (const Roi& roi : sampled_) {
            index.push_back(roi.row);
            own_label.push_back(roi.object < 0 ? 0 : labels[static_cast<std::size_t>(roi.object)]);
            if (roi.object < 0) continue;
            positive.push_back(roi.row);
            own_object.push_back(roi.object);
            deltas_row.push_back(std::ssize(index) - 1);
        }
        const auto [logits, deltas] = classify(rois_of(index));
        const std::int64_t terms = at_least_one(index.size());
        const Tensor target = device_index(or_empty_slot(own_label), device_);
        out_.classifier = mean_of(
            cross_entropy(logits, target, {}, {.reduction = Reduction::sum, .ignore_index = -1}),
            terms);
        // The deltas of its own class alone count for each region.
        const std::int64_t classes = logits.size(1);
        for (std::int64_t& row : deltas_row)
            row = row * classes + own_label[static_cast<std::size_t>(row)];
        const Tensor own_deltas =
            rows(reshape(deltas, {-1, box_columns}), or_empty_slot(deltas_row));
        const Tensor wanted = positive.empty()
                                  ? empty_boxes()
                                  : box_encode(rows(all_boxes(), own_object),
                                               rows(candidates_, positive), head_weights);
        out_.box_reg = boxes_loss(own_deltas, wanted, terms);
    }

    void mask_loss() {
        const Index labels = host_index(scenes_.labels), places = host_index(scenes_.places);
        const std::int64_t objects = scenes_.boxes.size(1);
        Index index, own_label, instance;
        for (const Roi& roi : sampled_) {
            // A place without a width: an object whose mask is not known.
            if (roi.object < 0 || places[static_cast<std::size_t>(roi.object * 5 + 2)] == 0)
                continue;
            index.push_back(roi.row);
            own_label.push_back(labels[static_cast<std::size_t>(roi.object)]);
            instance.push_back(roi.object % objects);
        }
        const Tensor rois = rois_of(index);
        if (index.empty()) own_label.push_back(0);
        const Tensor logits = draw_masks(rois, own_label);
        constexpr std::int64_t side = DetectionModel::mask_side;
        const Tensor target =
            mask_targets(rois, device_index(or_empty_slot(instance), device_), scenes_.places,
                         scenes_.bits, scenes_.sizes, {side, side});
        const Tensor weights =
            index.empty() ? Tensor::zeros(logits.shape(), DType::f32, device_) : Tensor();
        out_.mask =
            mean_of(binary_cross_entropy_with_logits(logits, reshape(target, logits.shape()),
                                                     weights, {}, Reduction::sum),
                    at_least_one(index.size()) * side * side);
    }

    /// Logits (n, 28, 28) in f32 of a class for each of the rois.
    Tensor draw_masks(const Tensor& rois, const Index& labels) const {
        const Tensor regions = multi_scale_roi_align(
            region_maps(), rois, {DetectionModel::mask_input_side, DetectionModel::mask_input_side},
            plan().canonical_size, 2);
        const Tensor classes = device_index(labels, device_);
        return f32(step_
                       .with_casts({regions},
                                   [&](const TensorList& in) {
                                       return TensorList{model_.mask_head(in.front(), classes)};
                                   })
                       .front());
    }

    void add_up() {
        Tensor total = add(out_.classifier, out_.box_reg);
        if (out_.mask.defined()) total = add(total, out_.mask);
        out_.total = add(add(total, out_.objectness), out_.rpn_box_reg);
    }

    void find() {
        const Index counts = host_index(out_.proposals.counts);
        const std::int64_t each = out_.proposals.boxes.size(1);
        Index index;
        for (std::int64_t n = 0; n < pictures(); ++n)
            for (std::int64_t i = 0; i < counts[static_cast<std::size_t>(n)]; ++i)
                index.push_back(n * each + i);
        const Tensor rois =
            make_rois(reshape(out_.proposals.boxes, {-1, box_columns}), index, each);
        const auto [logits, deltas] = classify(rois);
        const TensorList chosen = select_detections(logits, deltas, rois, scenes_.sizes,
                                                    {.score_threshold = plan().score_threshold,
                                                     .nms_threshold = plan().nms_threshold,
                                                     .detections = plan().detections});
        Tensor found = chosen[0];
        if (geometry_ == TeachBoxes::low)
            found = cat({decoded(narrow(found, 2, 0, box_columns)),
                         narrow(found, 2, box_columns, found_columns - box_columns)},
                        2);
        out_.found = plan().masks ? with_masks(found, host_index(chosen[1])) : found;
    }

    /// The detections (N, D, 6) with the probabilities of their masks.
    Tensor with_masks(const Tensor& found, const Index& counts) const {
        const std::int64_t each = found.size(1),
                           pixels = DetectionModel::mask_side * DetectionModel::mask_side;
        Index index, drawn(static_cast<std::size_t>(pictures() * each), -1), labels;
        const std::vector<double> values = found.values();
        for (std::int64_t n = 0; n < pictures(); ++n)
            for (std::int64_t i = 0; i < counts[static_cast<std::size_t>(n)]; ++i) {
                const std::int64_t row = n * each + i;
                drawn[static_cast<std::size_t>(row)] = std::ssize(index);
                index.push_back(row);
                labels.push_back(static_cast<std::int64_t>(
                    values[static_cast<std::size_t>(row * found_columns + 5)]));
            }
        if (index.empty())
            return cat({found, Tensor::zeros({pictures(), each, pixels}, DType::f32, device_)}, 2);
        const Tensor boxes =
            narrow(reshape(found, {pictures() * each, found_columns}), 1, 0, box_columns);
        const Tensor masks = sigmoid(
            draw_masks(make_rois(in_layout(boxes, Layout::contiguous), index, each), labels));
        const Tensor spread = rows(reshape(masks, {-1, pixels}), drawn);
        return cat({found, reshape(spread, {pictures(), each, pixels})}, 2);
    }

    const TaskStep& step_;
    TeachBoxes geometry_;
    DetectionModel& model_;
    const Scenes& scenes_;
    Device device_;
    TensorList features_;
    DetectionModel::AnchorScores anchor_scores_;
    Tensor anchors_;
    Tensor candidates_;  // (N (P + G), 4)
    std::vector<Roi> sampled_;
    DetectionPass out_;
};

}  // namespace

DetectionPass detect(const TaskStep& step, const Scenes& scenes, const Proposals* given,
                     TeachBoxes geometry) {
    return Pass(step, scenes, geometry).run(given);
}

}  // namespace engine
