// Rules of detectors that look at the data and at the file of the first weights.
#include <algorithm>
#include <cmath>

#include "engine/data/dataset_preview.h"
#include "engine/settings/catalog.h"
#include "models/anchor_fit.h"
#include "models/detector_file.h"
#include "models/model_descriptor.h"
#include "verdict/rules.h"

namespace engine {
namespace {

constexpr const char* data_heading = "Anchors and pictures fit the objects";
constexpr const char* file_heading = "Detectors need careful first steps";

std::string list_words(const std::vector<std::int64_t>& numbers) {
    std::string out;
    for (const std::int64_t each : numbers) out += (out.empty() ? "" : ",") + std::to_string(each);
    return "[" + out + "]";
}

std::string percent_words(double share) { return std::to_string(std::lround(share * 100)); }

/// More than a tenth of the boxes without an anchor, where other sizes leave a tenth at most.
void unfit_anchors(const LintSubject& s, const TypedOptions& options, Findings& out) {
    constexpr double most = 0.1;
    const auto& boxes = s.context.data->boxes;
    const std::vector<std::int64_t> sizes = options.integers("anchor_sizes");
    const double share = share_without_anchor(boxes, sizes);
    if (share <= most) return;
    const std::vector<std::int64_t> better = fitting_anchor_sizes(boxes);
    if (share_without_anchor(boxes, better) > most) return;
    out.push_back({.id = "anchors-miss-boxes",
                   .severity = LintSeverity::warning,
                   .sentence = msg("{} % of {} boxes have no anchor with an overlap of 0.3",
                                   percent_words(share), boxes.size()),
                   .reason = msg("The detector proposes regions by moving anchors. A box that none "
                                 "of them resembles is rarely found: fit their sizes to the boxes."),
                   .handbook = data_heading,
                   .fix = {"model.options.anchor_sizes=" + list_words(better)}});
}

/// Changes by which the images of the model are larger by a factor; none if they cannot be.
std::vector<std::string> larger_images(const RunConfig& config, double factor) {
    const DatasetDescriptor* data = find_kind(datasets(), config.dataset.kind);
    const TypedOptions options(config.dataset.options, data->options);
    const auto times = [&](std::int64_t side) {
        return static_cast<std::int64_t>(std::ceil(static_cast<double>(side) * factor));
    };
    if (find_option(data->options, "image_size") != nullptr) {
        constexpr std::int64_t most = 512, step = 32;
        const std::int64_t side = (times(options.integer("image_size")) + step - 1) / step * step;
        if (side > most) return {};
        return {"dataset.image_size=" + std::to_string(side)};
    }
    constexpr std::int64_t most_short = 2048, most_long = 4096;
    std::vector<std::int64_t> sides = options.integers("short_side");
    for (std::int64_t& side : sides) side = times(side);
    const std::int64_t longest = times(options.integer("long_side"));
    if (std::ranges::max(sides) > most_short || longest > most_long) return {};
    return {"dataset.short_side=" + list_words(sides),
            "dataset.long_side=" + std::to_string(longest)};
}

/// More than one box in a hundred with a side under four pixels: less than a cell of the finest map.
void tiny_boxes(const LintSubject& s, Findings& out) {
    constexpr double least = 4, most = 0.01, margin = 1.02;
    std::vector<double> sides;
    for (const BoxPreview& each : s.context.data->boxes)
        sides.push_back(double{std::min(each.corners[2] - each.corners[0],
                                        each.corners[3] - each.corners[1])});
    std::ranges::sort(sides);
    const auto small = std::ranges::lower_bound(sides, least) - sides.begin();
    const auto allowed = static_cast<std::ptrdiff_t>(most * static_cast<double>(sides.size()));
    if (small <= allowed) return;
    const double side = sides[static_cast<std::size_t>(allowed)];
    const std::vector<std::string> fix = larger_images(s.config, least / side * margin);
    if (fix.empty()) return;
    out.push_back({.id = "boxes-under-four-pixels",
                   .severity = LintSeverity::note,
                   .sentence = msg("{} of {} boxes are less than 4 pixels wide or high after resizing",
                                   small, sides.size()),
                   .reason = msg("The finest map of a detector has a cell for 4 x 4 pixels, so little "
                                 "is left of them. Larger images show them, and take longer."),
                   .handbook = data_heading,
                   .fix = fix});
}

void zero_frozen_variance(const DetectorFile& file, const TypedOptions& options, Findings& out) {
    if (!file.zero_variance || options.number("frozen_norm_eps") != 0) return;
    out.push_back({.id = "frozen-variance-of-zero",
                   .severity = LintSeverity::error,
                   .sentence = msg("Frozen batch norms with a variance of 0, and no eps"),
                   .reason = msg("They divide by the root of the variance, so the first activations "
                                 "are infinite or NaN."),
                   .handbook = file_heading,
                   .fix = {"model.options.frozen_norm_eps=1e-5"}});
}

constexpr std::int64_t coco_outputs = 91;

/// torchvision computes its detectors for COCO without an eps.
void eps_of_coco_weights(const DetectorFile& file, const TypedOptions& options, Findings& out) {
    if (file.outputs != coco_outputs || file.zero_variance ||
        options.number("frozen_norm_eps") == 0)
        return;
    out.push_back({.id = "coco-weights-with-eps",
                   .severity = LintSeverity::note,
                   .sentence = msg("COCO weights of torchvision with a frozen eps of {}",
                                   options.number("frozen_norm_eps")),
                   .reason = msg("Their head has 91 outputs, and torchvision computes that file with "
                                 "an eps of 0. Another eps moves every activation a little."),
                   .handbook = file_heading,
                   .fix = {"model.options.frozen_norm_eps=0"}});
}

void dense_labels_of_coco_weights(const LintSubject& s, const DetectorFile& file, Findings& out) {
    const auto& given = s.config.dataset.options;
    const auto found = given.find("label_ids");
    const DatasetDescriptor* kind = find_dataset(s.config.dataset.kind);
    const OptionSpec* spec = kind != nullptr ? find_option(kind->options, "label_ids") : nullptr;
    if (spec == nullptr) return;
    const OptionValue& ids = found == given.end() ? spec->default_value : found->second;
    const bool dense = ids == OptionValue(std::string("dense"));
    if (!dense || file.outputs != coco_outputs || s.config.model.new_head) return;
    if (s.context.data != nullptr && s.context.data->classes == coco_outputs) return;
    out.push_back({.id = "dense-labels-of-coco-weights",
                   .severity = LintSeverity::error,
                   .sentence = msg("Weights with 91 outputs and classes numbered 1, 2, 3"),
                   .reason = msg("COCO weights number their classes by the category ids of COCO, "
                                 "whose 80 classes have gaps up to 90."),
                   .handbook = file_heading,
                   .fix = {"dataset.label_ids=file"}});
}

}  // namespace

void lint_boxes(const LintSubject& subject, Findings& out) {
    const auto model = model_descriptor(subject.config.model);
    if (model->output != ModelOutput::detections) return;
    const TypedOptions options(subject.config.model.options, model->options);
    if (subject.context.data != nullptr && !subject.context.data->boxes.empty()) {
        unfit_anchors(subject, options, out);
        tiny_boxes(subject, out);
    }
    const auto file = read_detector_file(subject.config.model);
    if (!file) return;
    dense_labels_of_coco_weights(subject, *file, out);
    if (options.word("norm") != std::string_view("frozen")) return;
    zero_frozen_variance(*file, options, out);
    eps_of_coco_weights(*file, options, out);
}

}  // namespace engine
