#include <utility>
#include <vector>

#include "models/model.h"
#include "models/model_descriptor.h"
#include "models/shared_options.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/dropout.h"
#include "ops/pointwise/piecewise.h"
#include "ops/pool/pool.h"
#include "ops/shape/view.h"

namespace engine {
namespace {

/// MobileNetV2 (Sandler et al. 2018), width 1.0: inverted residual blocks around depthwise
/// convolutions. torchvision's names and initial weights.
class MobileNetV2 final : public SimpleModel {
public:
    /// The CIFAR stem leaves out the first two of the five halvings of a picture. dropout: of the
    /// inputs of the last layer.
    MobileNetV2(ImageStem stem, double dropout, std::int64_t channels, std::int64_t classes,
                std::optional<std::int64_t> seed, const Device& device);
    Tensor forward(const Tensor& x) override;
    bool casts_inputs_first() const override { return true; }
    bool convolves_inputs_first() const override { return true; }

private:
    /// A convolution, its batch norm, and ReLU6 where `activation` is named.
    struct Layer {
        Conv2d conv;
        BatchNorm2d norm;
        ModuleName activation;
        bool active = false;

        Tensor operator()(const Tensor& x, bool training) const;
    };
    /// 1x1 up (left out if it would not widen), 3x3 depthwise, 1x1 down without activation.
    struct Block {
        ModuleName name;
        std::vector<Layer> layers;
        bool adds_input = false;
    };
    struct BlockSizes {
        std::int64_t in, out, expand, stride;
    };
    Layer active_layer(const std::string& name, std::int64_t in, std::int64_t out,
                       std::int64_t kernel, std::int64_t stride, std::int64_t groups);
    Layer linear_layer(const std::string& prefix, std::size_t index, std::int64_t in,
                       std::int64_t out);
    Block make_block(const std::string& name, const BlockSizes& sizes);
    Linear make_classifier(std::int64_t classes);
    Tensor run(const Block& block, const Tensor& x) const;
    Tensor drop(const Tensor& x) const;

    double dropout_;
    Layer first_, last_;
    std::vector<Block> blocks_;
    ModuleName drop_;
    Linear classifier_;
};

constexpr auto kaiming = Conv2d::Init::kaiming_normal_fan_out;
constexpr std::int64_t stem_width = 32, last_width = 1280;

/// Rows of table 2 of the paper between its first and last convolution.
struct Row {
    std::int64_t expand, width, blocks, stride;
};
constexpr Row rows[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                        {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};

/// The CIFAR stem has stride 1 in the first convolution and in the first row that would halve.
std::int64_t stride_of(const Row& row, ImageStem stem) {
    return stem == ImageStem::cifar && &row == &rows[1] ? 1 : row.stride;
}

MobileNetV2::MobileNetV2(ImageStem stem, double dropout, std::int64_t channels,
                         std::int64_t classes, std::optional<std::int64_t> seed,
                         const Device& device)
    : SimpleModel(seed, device), dropout_(dropout), drop_("classifier.0") {
    first_ =
        active_layer("features.0", channels, stem_width, 3, stem == ImageStem::imagenet ? 2 : 1, 1);
    std::int64_t in = stem_width;
    for (const Row& row : rows) {
        for (std::int64_t i = 0; i < row.blocks; ++i) {
            const std::string name = "features." + std::to_string(blocks_.size() + 1);
            const std::int64_t stride = i == 0 ? stride_of(row, stem) : 1;
            blocks_.push_back(make_block(name, {in, row.width, row.expand, stride}));
            in = row.width;
        }
    }
    last_ = active_layer("features." + std::to_string(blocks_.size() + 1), in, last_width, 1, 1, 1);
    classifier_ = make_classifier(classes);
}

MobileNetV2::Layer MobileNetV2::active_layer(const std::string& name, std::int64_t in,
                                             std::int64_t out, std::int64_t kernel,
                                             std::int64_t stride, std::int64_t groups) {
    Layer layer;
    layer.conv =
        Conv2d(registry_, name + ".0", in, out, kernel, stride, kernel / 2, false, kaiming, groups);
    layer.norm = BatchNorm2d(registry_, name + ".1", out);
    layer.activation = ModuleName(name + ".2");
    layer.active = true;
    return layer;
}

MobileNetV2::Layer MobileNetV2::linear_layer(const std::string& prefix, std::size_t index,
                                             std::int64_t in, std::int64_t out) {
    Layer layer;
    layer.conv =
        Conv2d(registry_, prefix + std::to_string(index), in, out, 1, 1, 0, false, kaiming);
    layer.norm = BatchNorm2d(registry_, prefix + std::to_string(index + 1), out);
    return layer;
}

MobileNetV2::Block MobileNetV2::make_block(const std::string& name, const BlockSizes& sizes) {
    Block block;
    block.name = ModuleName(name);
    block.adds_input = sizes.stride == 1 && sizes.in == sizes.out;
    const std::string prefix = name + ".conv.";
    const auto next = [&] { return prefix + std::to_string(block.layers.size()); };
    const std::int64_t width = sizes.in * sizes.expand;
    if (sizes.expand != 1) block.layers.push_back(active_layer(next(), sizes.in, width, 1, 1, 1));
    block.layers.push_back(active_layer(next(), width, width, 3, sizes.stride, width));
    block.layers.push_back(linear_layer(prefix, block.layers.size(), width, sizes.out));
    return block;
}

/// torchvision's initial weights: normal with deviation 0.01, and no bias.
Linear MobileNetV2::make_classifier(std::int64_t classes) {
    const std::string name = "classifier.1";
    Linear layer;
    layer.module = ModuleName(name);
    layer.weight = registry_.normal(name + ".weight", {classes, last_width}, 0.01, true);
    layer.bias = registry_.constant(name + ".bias", {classes}, 0, true);
    return layer;
}

Tensor MobileNetV2::Layer::operator()(const Tensor& x, bool training) const {
    const Tensor h = norm(conv(x), training);
    if (!active) return h;
    const ModuleScope opened(activation);
    return relu6(h);
}

Tensor MobileNetV2::run(const Block& block, const Tensor& x) const {
    Tensor h = x;
    for (const Layer& layer : block.layers) h = layer(h, training);
    return block.adds_input ? add(x, h) : h;
}

Tensor MobileNetV2::drop(const Tensor& x) const {
    if (!training || dropout_ == 0) return x;
    const ModuleScope opened(drop_);
    return dropout(x, dropout_, random->source(), random->take(x.numel()));
}

Tensor MobileNetV2::forward(const Tensor& x) {
    Tensor h = first_(x, training);
    for (const Block& each : blocks_)
        h = block(each.name, h, [this, &each](const Tensor& in) { return run(each, in); });
    h = last_(h, training);
    return classifier_(drop(flatten(adaptive_avg_pool2d(h, {1, 1}), 1)));
}

}  // namespace

ModelDescriptor mobilenetv2_descriptor() {
    return {
        .kind = "mobilenetv2",
        .title = "MobileNetV2",
        .summary =
            "Small and light on arithmetic: its depthwise convolutions gain least from "
            "mixed precision.",
        .inputs = {FieldKind::image},
        .options = {image_stem_option(), option("dropout", "Dropout", 0.2,
                                                "Share of the last layer's inputs that is set to 0 "
                                                "at random in training, against overfitting.",
                                                opt::from_to_below(0, 1))},
        .has_blocks = true,
        .benchmark = {.batch = 16},
        .make = [](const ModelSetup& setup) -> std::unique_ptr<Model> {
            const Shape& picture = setup.shape.inputs.front().shape;
            return std::make_unique<MobileNetV2>(image_stem(setup.options, picture),
                                                 setup.options.number("dropout"), picture[0],
                                                 setup.shape.outputs, setup.seed, setup.device);
        }};
}

}  // namespace engine
