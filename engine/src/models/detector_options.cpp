#include "engine/base/error.h"
#include "models/mask_rcnn.h"

namespace engine {
namespace {

/// Throws Error(settings) unless the list has so many numbers.
std::vector<std::int64_t> numbers(const TypedOptions& options, const char* name, std::size_t count) {
    const auto list = options.integers(name);
    if (list.size() != count)
        throw Error(ErrorCode::settings, msg("model.options.{}: use {} numbers", name, count));
    return list;
}

constexpr std::size_t levels = 5;

}  // namespace

DetectionPlan detection_plan(const TypedOptions& options) {
    const auto sizes = numbers(options, "anchor_sizes", levels);
    const auto before = numbers(options, "proposals_before", 2),
               after = numbers(options, "proposals_after", 2);
    return {.anchor_sizes = {sizes.begin(), sizes.end()},
            .anchors_sampled = options.integer("anchors_sampled"),
            .proposals_before = {before[0], before[1]},
            .proposals_after = {after[0], after[1]},
            .rois_sampled = options.integer("rois_sampled"),
            .canonical_size = options.number("canonical_size"),
            .masks = options.flag("masks"),
            .score_threshold = options.number("score_threshold"),
            .nms_threshold = options.number("nms_threshold"),
            .detections = options.integer("detections")};
}

DetectorDefaults small_detector_defaults() {
    return {.norm = "batch",
            .train_layers = 5,
            .pyramid_channels = 64,
            .anchor_sizes = {8, 16, 32, 64, 128},
            .anchors_sampled = 64,
            .proposals = {200, 100},
            .rois_sampled = 64,
            .canonical_size = 56,
            .hidden = 256,
            .mask_layers = {64, 64}};
}

DetectorDefaults torchvision_detector_defaults() {
    return {.norm = "frozen",
            .train_layers = 3,
            .pyramid_channels = 256,
            .anchor_sizes = {32, 64, 128, 256, 512},
            .anchors_sampled = 256,
            .proposals = {2000, 1000},
            .rois_sampled = 512,
            .canonical_size = 224,
            .hidden = 1024,
            .mask_layers = {256, 256, 256, 256}};
}

std::vector<OptionSpec> detector_options(const DetectorDefaults& d) {
    return {
        option("norm", "Norm", std::string(d.norm),
               "How the body's batch norms work.",
               opt::one_of({{"batch", "Batch norm", "Trained, by the statistics of the batch."},
                            {"frozen", "Frozen",
                             "Statistics and weights stay as model.init_from has them: for small "
                             "batches."}}),
               opt::prominent),
        option("frozen_norm_eps", "Frozen eps", 1e-5,
               "Added to the variances of frozen norms. torchvision's file for COCO needs 0.",
               opt::between(0, 1)),
        option("train_layers", "Trained stages", d.train_layers,
               "How many parts of the body are trained, from the last on: layer4, layer3, layer2, "
               "layer1, conv1.",
               opt::between(0, 5), opt::prominent),
        option("pyramid_channels", "Pyramid channels", d.pyramid_channels,
               "Channels of the maps that regions are found and read in.", opt::between(1, 4096),
               opt::prominent),
        option("anchor_sizes", "Anchor sizes", d.anchor_sizes,
               "Side of the anchors of each of the five maps. Each place has three, with heights "
               "over widths of 0.5, 1 and 2.",
               opt::unit("pixels"), opt::between(1, 4096), opt::prominent),
        option("anchors_sampled", "Sampled anchors", d.anchors_sampled,
               "Anchors of a picture that the loss is taken of; at most half of them lie on "
               "objects.",
               opt::between(2, 65536)),
        option("proposals_before", "Proposals before suppression", d.proposals,
               "The best regions of each map, before overlapping ones are dropped: in training and "
               "in evaluation.",
               opt::between(1, 65536)),
        option("proposals_after", "Proposals", d.proposals,
               "Regions of a picture that remain: in training and in evaluation.",
               opt::between(1, 65536)),
        option("rois_sampled", "Sampled regions", d.rois_sampled,
               "Regions of a picture that the heads learn from; at most a quarter of them lie on "
               "objects.",
               opt::between(4, 65536)),
        option("canonical_size", "Canonical size", d.canonical_size,
               "Regions of this side are read in the third map, larger and smaller ones in others.",
               opt::unit("pixels"), opt::between(1, 65536)),
        option("hidden", "Hidden", d.hidden, "Width of the two layers that classify a region.",
               opt::between(1, 65536)),
        option("mask_layers", "Mask layers", d.mask_layers,
               "Channels of the convolutions that draw a region's mask.", opt::between(1, 4096),
               opt::needs("masks")),
        option("masks", "Masks", true,
               "Draws a mask of each object. Without it the network is Faster R-CNN.",
               opt::prominent),
        option("score_threshold", "Score threshold", 0.05,
               "Detections with lower scores are dropped in an evaluation.",
               opt::between(0.01, 0.99)),
        option("nms_threshold", "Overlap threshold", 0.5,
               "Of two detections of a class that overlap by more, the one with the lower score is "
               "dropped.",
               opt::between(0, 1)),
        option("detections", "Detections", std::int64_t{100}, "The most detections of a picture.",
               opt::between(1, 65536))};
}

}  // namespace engine
