#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "engine/base/error.h"
#include "models/detection_model.h"
#include "models/feature_pyramid.h"
#include "models/model_descriptor.h"
#include "models/resnet_body.h"
#include "ops/detection/anchors.h"
#include "ops/index/embedding.h"
#include "ops/linalg/products.h"
#include "ops/pointwise/activation.h"
#include "ops/shape/view.h"

namespace engine {
namespace {

/// Sizes of the heads.
struct HeadSizes {
    std::int64_t channels;                  ///< of the pyramid
    std::int64_t hidden;                    ///< of fc6 and fc7
    std::vector<std::int64_t> mask_layers;  ///< channels; empty: no masks
    std::int64_t classes;                   ///< with the background
};

/// A 3x3 convolution and its ReLU, which torchvision has in one Sequential.
struct ReluConv {
    Conv2d conv;
    ModuleName relu;
};

/// Mask R-CNN (He et al. 2017) on a feature pyramid, without masks Faster R-CNN (Ren et al. 2015).
/// torchvision's names and initial weights.
class MaskRcnn final : public DetectionModel {
public:
    MaskRcnn(const ResNetPlan& body, const ResNetBody::Form& form, const HeadSizes& sizes,
             DetectionPlan plan, std::optional<std::int64_t> seed, const Device& device);

    TensorList features(const Tensor& pictures) override;
    AnchorScores anchor_head(const TensorList& maps) override;
    BoxScores box_head(const Tensor& regions) override;
    Tensor mask_head(const Tensor& regions, const Tensor& labels) override;
    const DetectionPlan& plan() const override { return plan_; }

private:
    void build_mask_head(const HeadSizes& sizes);

    DetectionPlan plan_;
    ResNetBody body_;
    FeaturePyramid pyramid_;
    ReluConv anchor_conv_;
    Conv2d anchor_logits_, anchor_deltas_;
    ModuleName box_module_, box_predictor_, mask_relu_;
    Linear fc6_, fc7_, box_logits_, box_deltas_;
    std::vector<ReluConv> mask_convs_;
    ConvTranspose2d mask_up_;
    Conv2d mask_logits_;
};

constexpr double anchor_deviation = 0.01;

/// Weight normal with this deviation, bias 0.
Conv2d normal_conv(TensorRegistry& registry, const std::string& name, std::int64_t in,
                   std::int64_t out, std::int64_t kernel, double deviation) {
    Conv2d conv;
    conv.module = ModuleName(name);
    conv.weight =
        registry.normal(name + ".weight", {out, in, kernel, kernel}, deviation, true);
    conv.bias = registry.constant(name + ".bias", {out}, 0, true);
    conv.padding = kernel / 2;
    return conv;
}

/// Kaiming's deviation for a weight with so many outputs a place.
double relu_deviation(std::int64_t fan_out) {
    return std::sqrt(2.0 / static_cast<double>(fan_out));
}

ReluConv relu_conv(TensorRegistry& registry, const std::string& name, std::int64_t in,
                   std::int64_t out, double deviation) {
    return {normal_conv(registry, name + ".0", in, out, 3, deviation), ModuleName(name + ".1")};
}

Tensor run_layer(const ReluConv& layer, const Tensor& x) {
    const Tensor h = layer.conv(x);
    const ModuleScope opened(layer.relu);
    return relu(h);
}

std::vector<std::int64_t> widths(const ResNetBody& body) {
    std::vector<std::int64_t> out;
    for (std::size_t i = 0; i < ResNetBody::stage_count; ++i) out.push_back(body.width(i));
    return out;
}

MaskRcnn::MaskRcnn(const ResNetPlan& body, const ResNetBody::Form& form, const HeadSizes& sizes,
                   DetectionPlan plan, std::optional<std::int64_t> seed, const Device& device)
    : DetectionModel(seed, device),
      plan_(std::move(plan)),
      body_(registry_, body, form),
      pyramid_(registry_, "backbone.fpn", widths(body_), sizes.channels),
      anchor_conv_(relu_conv(registry_, "rpn.head.conv.0", sizes.channels, sizes.channels,
                             anchor_deviation)),
      anchor_logits_(normal_conv(registry_, "rpn.head.cls_logits", sizes.channels, anchor_ratios, 1,
                                 anchor_deviation)),
      anchor_deltas_(normal_conv(registry_, "rpn.head.bbox_pred", sizes.channels,
                                 4 * anchor_ratios, 1, anchor_deviation)),
      box_module_("roi_heads.box_head"),
      box_predictor_("roi_heads.box_predictor"),
      mask_relu_("roi_heads.mask_predictor.relu"),
      fc6_(registry_, "roi_heads.box_head.fc6", sizes.channels * box_side * box_side, sizes.hidden),
      fc7_(registry_, "roi_heads.box_head.fc7", sizes.hidden, sizes.hidden),
      box_logits_(registry_, "roi_heads.box_predictor.cls_score", sizes.hidden, sizes.classes),
      box_deltas_(registry_, "roi_heads.box_predictor.bbox_pred", sizes.hidden,
                  4 * sizes.classes) {
    if (plan_.masks) build_mask_head(sizes);
}

void MaskRcnn::build_mask_head(const HeadSizes& sizes) {
    std::int64_t in = sizes.channels;
    for (std::size_t i = 0; i < sizes.mask_layers.size(); ++i) {
        const std::int64_t out = sizes.mask_layers[i];
        mask_convs_.push_back(relu_conv(registry_, "roi_heads.mask_head." + std::to_string(i), in,
                                        out, relu_deviation(9 * out)));
        in = out;
    }
    const std::string name = "roi_heads.mask_predictor.";
    const auto bound = [](std::int64_t fan_in) {
        return 1 / std::sqrt(static_cast<double>(fan_in));
    };
    mask_up_.module = ModuleName(name + "conv5_mask");
    mask_up_.weight = registry_.normal(name + "conv5_mask.weight", {in, in, 2, 2},
                                       relu_deviation(4 * in), true);
    mask_up_.bias = registry_.uniform(name + "conv5_mask.bias", {in}, bound(4 * in), true);
    mask_up_.stride = 2;
    mask_logits_.module = ModuleName(name + "mask_fcn_logits");
    mask_logits_.weight = registry_.normal(name + "mask_fcn_logits.weight", {sizes.classes, in, 1, 1},
                                           relu_deviation(sizes.classes), true);
    mask_logits_.bias =
        registry_.uniform(name + "mask_fcn_logits.bias", {sizes.classes}, bound(in), true);
}

TensorList MaskRcnn::features(const Tensor& pictures) {
    Tensor h = body_.stem(*this, pictures);
    // Each lateral before the next stage: so the gradients of a map are added up in the same order
    // whether that stage is recomputed or not.
    TensorList laterals;
    for (std::size_t i = 0; i < ResNetBody::stage_count; ++i) {
        h = body_.stage(*this, i, std::move(h));
        laterals.push_back(pyramid_.lateral(i, h));
    }
    return pyramid_(laterals);
}

DetectionModel::AnchorScores MaskRcnn::anchor_head(const TensorList& maps) {
    AnchorScores out;
    for (const Tensor& map : maps) {
        const Tensor h = run_layer(anchor_conv_, map);
        out.logits.push_back(anchor_logits_(h));
        out.deltas.push_back(anchor_deltas_(h));
    }
    return out;
}

DetectionModel::BoxScores MaskRcnn::box_head(const Tensor& regions) {
    Tensor h = flatten(regions, 1);
    {
        const ModuleScope opened(box_module_);
        h = linear_relu(fc7_, linear_relu(fc6_, h));
    }
    const ModuleScope opened(box_predictor_);
    return {box_logits_(h), box_deltas_(h)};
}

Tensor MaskRcnn::mask_head(const Tensor& regions, const Tensor& labels) {
    if (!plan_.masks) throw Error(ErrorCode::state, "this detector has no masks");
    Tensor h = regions;
    for (const ReluConv& each : mask_convs_) h = run_layer(each, h);
    h = mask_up_(h);
    {
        const ModuleScope opened(mask_relu_);
        h = relu(h);
    }
    // The last layer for one class of each region: the others' results are not used.
    const ModuleScope opened(mask_logits_.module);
    const std::int64_t count = h.size(0), channels = h.size(1), classes = mask_logits_.weight.size(0);
    const Tensor pixels =
        reshape(permute(h, {0, 2, 3, 1}), {count, mask_side * mask_side, channels});
    const Tensor weight = embedding(labels, reshape(mask_logits_.weight, {classes, channels}));
    const Tensor bias = embedding(labels, reshape(mask_logits_.bias, {classes, 1}));
    const Tensor logits = baddbmm(reshape(bias, {count, 1, 1}), pixels,
                                  reshape(weight, {count, channels, 1}));
    return reshape(logits, {count, mask_side, mask_side});
}

/// Body stages from the last on, as torchvision unfreezes them.
constexpr const char* trained_first[] = {"layer4.", "layer3.", "layer2.", "layer1.", "conv1."};
constexpr const char* body_prefix = "backbone.body.";

void freeze_body(Model& model, std::int64_t trained) {
    const auto trains = [&](std::string_view name) {
        if (trained == std::ssize(trained_first)) return true;
        return std::any_of(std::begin(trained_first), std::begin(trained_first) + trained,
                           [&](const char* layer) { return name.starts_with(layer); });
    };
    for (const Parameter& each : model.parameters()) {
        if (!each.name.starts_with(body_prefix)) continue;
        Tensor tensor = each.tensor;
        if (!trains(std::string_view(each.name).substr(std::string_view(body_prefix).size())))
            tensor.set_requires_grad(false);
    }
}

/// Throws Error(settings) unless the list has so many numbers.
std::vector<std::int64_t> numbers(const TypedOptions& options, const char* name, std::size_t count) {
    const auto list = options.integers(name);
    if (list.size() != count)
        throw Error(ErrorCode::settings, msg("model.options.{}: use {} numbers", name, count));
    return list;
}

constexpr std::size_t levels = 5;

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

template <const ResNetPlan& plan>
std::unique_ptr<Model> made_detector(const ModelSetup& setup) {
    const TypedOptions& options = setup.options;
    ResNetBody::Form form{.prefix = body_prefix,
                          .channels = setup.shape.inputs.front().shape[0]};
    if (options.word("norm") == "frozen") form.frozen_eps = options.number("frozen_norm_eps");
    const std::vector<std::int64_t> mask_layers = options.integers("mask_layers");
    if (mask_layers.empty())
        throw Error(ErrorCode::settings, msg("model.options.mask_layers: use at least one number"));
    const HeadSizes sizes{options.integer("pyramid_channels"), options.integer("hidden"),
                          mask_layers, setup.shape.outputs};
    auto model = std::make_unique<MaskRcnn>(plan, form, sizes, detection_plan(options), setup.seed,
                                            setup.device);
    freeze_body(*model, options.integer("train_layers"));
    return model;
}

using Numbers = std::vector<std::int64_t>;

/// Defaults that differ between the kinds.
struct DetectorDefaults {
    const char* norm;
    std::int64_t train_layers, pyramid_channels;
    Numbers anchor_sizes;
    std::int64_t anchors_sampled;
    Numbers proposals;
    std::int64_t rois_sampled;
    double canonical_size;
    std::int64_t hidden;
    Numbers mask_layers;
};

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

}  // namespace

ModelDescriptor maskrcnn_resnet18_descriptor() {
    return {.kind = "maskrcnn-resnet18",
            .title = "Mask R-CNN, ResNet-18",
            .summary = "Finds objects, their boxes and masks. Small: learns drawn scenes on a CPU "
                       "in minutes.",
            .inputs = {FieldKind::image},
            .output = ModelOutput::detections,
            .options = detector_options({.norm = "batch",
                                         .train_layers = 5,
                                         .pyramid_channels = 64,
                                         .anchor_sizes = {8, 16, 32, 64, 128},
                                         .anchors_sampled = 64,
                                         .proposals = {200, 100},
                                         .rois_sampled = 64,
                                         .canonical_size = 56,
                                         .hidden = 256,
                                         .mask_layers = {64, 64}}),
            .has_blocks = true,
            .make = made_detector<resnet18_plan>};
}

ModelDescriptor maskrcnn_resnet50_descriptor() {
    return {.kind = "maskrcnn-resnet50",
            .title = "Mask R-CNN, ResNet-50",
            .summary = "Finds objects, their boxes and masks: torchvision's network with its sizes, "
                       "whose weights it reads.",
            .inputs = {FieldKind::image},
            .output = ModelOutput::detections,
            .options = detector_options({.norm = "frozen",
                                         .train_layers = 3,
                                         .pyramid_channels = 256,
                                         .anchor_sizes = {32, 64, 128, 256, 512},
                                         .anchors_sampled = 256,
                                         .proposals = {2000, 1000},
                                         .rois_sampled = 512,
                                         .canonical_size = 224,
                                         .hidden = 1024,
                                         .mask_layers = {256, 256, 256, 256}}),
            .has_blocks = true,
            .make = made_detector<resnet50_plan>};
}

}  // namespace engine
