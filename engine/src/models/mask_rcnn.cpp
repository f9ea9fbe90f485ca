#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "engine/base/error.h"
#include "models/feature_pyramid.h"
#include "models/mask_rcnn.h"
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
    MaskRcnn(const MakeDetectorBody& body, const HeadSizes& sizes, DetectionPlan plan,
             std::optional<std::int64_t> seed, const Device& device);

    TensorList features(const Tensor& pictures) override;
    AnchorScores anchor_head(const TensorList& maps) override;
    BoxScores box_head(const Tensor& regions) override;
    Tensor mask_head(const Tensor& regions, const Tensor& labels) override;
    const DetectionPlan& plan() const override { return plan_; }
    bool casts_inputs_first() const override { return body_->casts_inputs_first(); }
    bool convolves_inputs_first() const override { return body_->convolves_inputs_first(); }
    /// Leaves so many parts of the body to be trained, from the last on.
    void freeze_body(std::int64_t trained);

private:
    void build_mask_head(const HeadSizes& sizes);

    DetectionPlan plan_;
    std::unique_ptr<DetectorBody> body_;
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

std::vector<std::int64_t> widths(const DetectorBody& body) {
    std::vector<std::int64_t> out;
    for (std::size_t i = 0; i < DetectorBody::stage_count; ++i) out.push_back(body.width(i));
    return out;
}

MaskRcnn::MaskRcnn(const MakeDetectorBody& body, const HeadSizes& sizes, DetectionPlan plan,
                   std::optional<std::int64_t> seed, const Device& device)
    : DetectionModel(seed, device),
      plan_(std::move(plan)),
      body_(body(registry_)),
      pyramid_(registry_, "backbone.fpn", widths(*body_), sizes.channels),
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
    heads = {"rpn.head", "roi_heads.box_predictor.cls_score", "roi_heads.box_predictor.bbox_pred"};
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
    heads.push_back(name + "mask_fcn_logits");
}

TensorList MaskRcnn::features(const Tensor& pictures) {
    // Each lateral before the next stage: so the gradients of a map are added up in the same order
    // whether that stage is recomputed or not.
    TensorList laterals;
    body_->run(*this, pictures, [&](std::size_t stage, const Tensor& map) {
        laterals.push_back(pyramid_.lateral(stage, map));
    });
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

void MaskRcnn::freeze_body(std::int64_t trained) {
    constexpr std::int64_t parts = DetectorBody::stage_count + 1;
    for (const Parameter& each : registry_.parameters) {
        if (!each.name.starts_with(DetectorBody::prefix)) continue;
        Tensor tensor = each.tensor;
        if (body_->part_of(each.name) < parts - trained) tensor.set_requires_grad(false);
    }
}

/// A ResNet of torchvision.
class ResNetDetectorBody final : public DetectorBody {
public:
    ResNetDetectorBody(TensorRegistry& registry, const ResNetPlan& plan,
                       const ResNetBody::Form& form)
        : body_(registry, plan, form) {}

    void run(const Model& model, const Tensor& pictures, const Seen& seen) const override {
        Tensor h = body_.stem(model, pictures);
        for (std::size_t i = 0; i < stage_count; ++i) {
            h = body_.stage(model, i, std::move(h));
            seen(i, h);
        }
    }
    std::int64_t width(std::size_t stage) const override { return body_.width(stage); }
    std::int64_t part_of(std::string_view parameter) const override {
        parameter.remove_prefix(std::string_view(prefix).size());
        constexpr std::string_view layer = "layer";
        return parameter.starts_with(layer) ? parameter[layer.size()] - '0' : 0;
    }

private:
    ResNetBody body_;
};

template <const ResNetPlan& plan>
std::unique_ptr<Model> make_resnet_detector(const ModelSetup& setup) {
    const TypedOptions& options = setup.options;
    ResNetBody::Form form{.prefix = DetectorBody::prefix,
                          .channels = setup.shape.inputs.front().shape[0]};
    if (options.word("norm") == "frozen") form.frozen_eps = options.number("frozen_norm_eps");
    return make_detector(setup, [&](TensorRegistry& registry) {
        return std::make_unique<ResNetDetectorBody>(registry, plan, form);
    });
}

}  // namespace

std::unique_ptr<Model> make_detector(const ModelSetup& setup, const MakeDetectorBody& make_body) {
    const TypedOptions& options = setup.options;
    const std::vector<std::int64_t> mask_layers = options.integers("mask_layers");
    if (mask_layers.empty())
        throw Error(ErrorCode::settings, msg("model.options.mask_layers: use at least one number"));
    const HeadSizes sizes{options.integer("pyramid_channels"), options.integer("hidden"),
                          mask_layers, setup.shape.outputs};
    auto model = std::make_unique<MaskRcnn>(make_body, sizes, detection_plan(options), setup.seed,
                                            setup.device);
    model->freeze_body(options.integer("train_layers"));
    return model;
}

ModelDescriptor maskrcnn_resnet18_descriptor() {
    return {.kind = "maskrcnn-resnet18",
            .title = "Mask R-CNN, ResNet-18",
            .summary = "Finds objects, their boxes and masks. Small: learns drawn scenes on a CPU "
                       "in minutes.",
            .inputs = {FieldKind::image},
            .output = ModelOutput::detections,
            .options = detector_options(small_detector_defaults()),
            .has_blocks = true,
            .make = make_resnet_detector<resnet18_plan>};
}

ModelDescriptor maskrcnn_resnet50_descriptor() {
    return {.kind = "maskrcnn-resnet50",
            .title = "Mask R-CNN, ResNet-50",
            .summary = "Finds objects, their boxes and masks: torchvision's network with its sizes, "
                       "whose weights it reads.",
            .inputs = {FieldKind::image},
            .output = ModelOutput::detections,
            .options = detector_options(torchvision_detector_defaults()),
            .has_blocks = true,
            .make = make_resnet_detector<resnet50_plan>};
}

}  // namespace engine
