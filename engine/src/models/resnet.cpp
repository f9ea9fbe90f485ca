#include <array>
#include <utility>
#include <vector>

#include "models/model.h"
#include "models/model_descriptor.h"
#include "models/shared_options.h"
#include "ops/pool/pool.h"
#include "ops/shape/view.h"

namespace engine {
namespace {

/// Parameters of a residual network, as in torchvision's ResNet(block, layers, groups,
/// width_per_group).
struct ResNetPlan {
    enum class Block {
        basic,       ///< two 3x3 convolutions
        bottleneck,  ///< 1x1, 3x3 and 1x1, the last with four times the channels
    };
    Block block = Block::basic;
    std::array<int, 4> depths{};                    ///< blocks of each stage
    std::int64_t groups = 1, width_per_group = 64;  ///< of a bottleneck's 3x3 convolution
};

struct ResNetOptions {
    ImageStem stem = ImageStem::cifar;
    /// The last batch norm of each block starts with a weight of 0, so that the block starts as the
    /// identity (Goyal et al. 2017).
    bool zero_init_last_norm = false;
};

/// ResNet (He et al. 2015) in the form called v1.5: a bottleneck's stride is in its 3x3
/// convolution. With groups, ResNeXt (Xie et al. 2016). torchvision's names and initial weights.
class ResNet final : public SimpleModel {
public:
    ResNet(const ResNetPlan& plan, const ResNetOptions& options, std::int64_t channels,
           std::int64_t classes, std::optional<std::int64_t> seed, const Device& device);
    Tensor forward(const Tensor& x) override;
    bool casts_inputs_first() const override { return true; }
    bool convolves_inputs_first() const override { return true; }

private:
    /// Convolutions, each with its batch norm, and a shortcut around them.
    struct Block {
        ModuleName name, downsample;
        std::vector<Conv2d> convs;
        std::vector<BatchNorm2d> norms;
        Conv2d shortcut;  // undefined weight: identity
        BatchNorm2d shortcut_bn;
    };
    struct Stage {
        ModuleName name;
        std::vector<Block> blocks;
    };
    Stage make_stage(const ResNetPlan& plan, int index, std::int64_t in);
    Block make_block(const ResNetPlan& plan, const std::string& name, std::int64_t in,
                     std::int64_t planes, std::int64_t stride);
    void add_conv(Block& block, std::int64_t in, std::int64_t out, std::int64_t kernel,
                  std::int64_t stride, std::int64_t groups);
    void zero_last_norms() const;
    Tensor stem(const Tensor& x) const;
    /// Takes its input over, so that it can be freed after the first block.
    Tensor run(const Stage& stage, Tensor h) const;
    Tensor run(const Block& block, const Tensor& x) const;
    /// The path around the convolutions.
    Tensor shortcut(const Block& block, const Tensor& x) const;
    Tensor pool(const Tensor& x) const;

    ImageStem stem_;
    Conv2d conv1_;
    BatchNorm2d bn1_;
    std::array<Stage, 4> stages_;
    ModuleName maxpool_, avgpool_;
    Linear fc_;
};

constexpr auto he = Conv2d::Init::kaiming_normal_fan_out;
constexpr std::int64_t first_width = 64;

/// Output channels of a block for each of its planes.
std::int64_t expansion(const ResNetPlan& plan) {
    return plan.block == ResNetPlan::Block::bottleneck ? 4 : 1;
}

/// Channels between a bottleneck's convolutions.
std::int64_t inner_width(const ResNetPlan& plan, std::int64_t planes) {
    return planes * plan.width_per_group / 64 * plan.groups;
}

ResNet::ResNet(const ResNetPlan& plan, const ResNetOptions& options, std::int64_t channels,
               std::int64_t classes, std::optional<std::int64_t> seed, const Device& device)
    : SimpleModel(seed, device), stem_(options.stem), maxpool_("maxpool"), avgpool_("avgpool") {
    conv1_ = stem_ == ImageStem::imagenet
                 ? Conv2d(registry_, "conv1", channels, first_width, 7, 2, 3, false, he)
                 : Conv2d(registry_, "conv1", channels, first_width, 3, 1, 1, false, he);
    bn1_ = BatchNorm2d(registry_, "bn1", first_width);
    std::int64_t in = first_width;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
        stages_[i] = make_stage(plan, static_cast<int>(i), in);
        in = (first_width << i) * expansion(plan);
    }
    fc_ = Linear(registry_, "fc", in, classes);
    if (options.zero_init_last_norm) zero_last_norms();
}

ResNet::Stage ResNet::make_stage(const ResNetPlan& plan, int index, std::int64_t in) {
    Stage stage;
    const std::string name = "layer" + std::to_string(index + 1);
    stage.name = ModuleName(name);
    const std::int64_t planes = first_width << index;
    for (int i = 0; i < plan.depths[static_cast<std::size_t>(index)]; ++i) {
        const std::int64_t stride = index > 0 && i == 0 ? 2 : 1;
        stage.blocks.push_back(
            make_block(plan, name + "." + std::to_string(i), in, planes, stride));
        in = planes * expansion(plan);
    }
    return stage;
}

ResNet::Block ResNet::make_block(const ResNetPlan& plan, const std::string& name, std::int64_t in,
                                 std::int64_t planes, std::int64_t stride) {
    Block block;
    block.name = ModuleName(name);
    block.downsample = ModuleName(name + ".downsample");
    const std::int64_t out = planes * expansion(plan);
    if (plan.block == ResNetPlan::Block::bottleneck) {
        const std::int64_t width = inner_width(plan, planes);
        add_conv(block, in, width, 1, 1, 1);
        add_conv(block, width, width, 3, stride, plan.groups);
        add_conv(block, width, out, 1, 1, 1);
    } else {
        add_conv(block, in, out, 3, stride, 1);
        add_conv(block, out, out, 3, 1, 1);
    }
    if (stride != 1 || in != out) {
        block.shortcut =
            Conv2d(registry_, name + ".downsample.0", in, out, 1, stride, 0, false, he);
        block.shortcut_bn = BatchNorm2d(registry_, name + ".downsample.1", out);
    }
    return block;
}

void ResNet::add_conv(Block& block, std::int64_t in, std::int64_t out, std::int64_t kernel,
                      std::int64_t stride, std::int64_t groups) {
    const std::string& name = block.name.text();
    const std::string number = std::to_string(block.convs.size() + 1);
    block.convs.emplace_back(registry_, name + ".conv" + number, in, out, kernel, stride,
                             kernel / 2, false, he, groups);
    block.norms.emplace_back(registry_, name + ".bn" + number, out);
}

void ResNet::zero_last_norms() const {
    for (const Stage& stage : stages_) {
        for (const Block& block : stage.blocks) {
            Tensor weight = block.norms.back().weight;
            const std::vector<float> zeros(static_cast<std::size_t>(weight.numel()), 0.f);
            weight.copy_from_host(zeros.data());
        }
    }
}

Tensor ResNet::stem(const Tensor& x) const {
    const Tensor h = bn1_.relu(conv1_(x), {}, training);
    if (stem_ == ImageStem::cifar) return h;
    const ModuleScope opened(maxpool_);
    return max_pool2d(h, {.kernel = {3, 3}, .stride = {{2, 2}}, .padding = {1, 1}});
}

Tensor ResNet::run(const Block& block, const Tensor& x) const {
    Tensor h = x;
    const std::size_t last = block.convs.size() - 1;
    for (std::size_t i = 0; i < last; ++i) h = block.norms[i].relu(block.convs[i](h), {}, training);
    const Tensor around = shortcut(block, x);
    return block.norms[last].relu(block.convs[last](h), around, training);
}

Tensor ResNet::shortcut(const Block& block, const Tensor& x) const {
    if (!block.shortcut.weight.defined()) return x;
    const ModuleScope opened(block.downsample);
    return block.shortcut_bn(block.shortcut(x), training);
}

Tensor ResNet::run(const Stage& stage, Tensor h) const {
    const ModuleScope opened(stage.name);
    for (const Block& each : stage.blocks)
        h = block(each.name, h, [this, &each](const Tensor& in) { return run(each, in); });
    return h;
}

Tensor ResNet::pool(const Tensor& x) const {
    const ModuleScope opened(avgpool_);
    return adaptive_avg_pool2d(x, {1, 1});
}

Tensor ResNet::forward(const Tensor& x) {
    Tensor h = stem(x);
    for (const Stage& stage : stages_) h = run(stage, std::move(h));
    return fc_(flatten(pool(h), 1));
}

template <const ResNetPlan& plan>
std::unique_ptr<Model> made(const ModelSetup& setup) {
    const Shape& picture = setup.shape.inputs.front().shape;
    return std::make_unique<ResNet>(plan,
                                    ResNetOptions{image_stem(setup.options, picture),
                                                  setup.options.flag("zero_init_last_norm")},
                                    picture[0], setup.shape.outputs, setup.seed, setup.device);
}

template <const ResNetPlan& plan>
ModelDescriptor described(const char* kind, const char* title, const char* summary) {
    return {.kind = kind,
            .title = title,
            .summary = summary,
            .inputs = {FieldKind::image},
            .options = {image_stem_option(),
                        option("zero_init_last_norm", "Zero-init last norm", false,
                               "Starts the last batch norm of each block with weight 0, so that "
                               "each block starts as the identity. Helps with large batches.")},
            .has_blocks = true,
            .make = made<plan>};
}

constexpr auto basic = ResNetPlan::Block::basic;
constexpr auto bottleneck = ResNetPlan::Block::bottleneck;
constexpr ResNetPlan plan18{basic, {2, 2, 2, 2}};
constexpr ResNetPlan plan34{basic, {3, 4, 6, 3}};
constexpr ResNetPlan plan50{bottleneck, {3, 4, 6, 3}};
constexpr ResNetPlan plan101{bottleneck, {3, 4, 23, 3}};
constexpr ResNetPlan plan152{bottleneck, {3, 8, 36, 3}};
constexpr ResNetPlan next_plan50{bottleneck, {3, 4, 6, 3}, 32, 4};
constexpr ResNetPlan next_plan101{bottleneck, {3, 4, 23, 3}, 32, 4};

}  // namespace

ModelDescriptor resnet18_descriptor() {
    ModelDescriptor kind = described<plan18>("resnet18", "ResNet-18",
                                             "Eighteen layers with shortcuts and batch norm.");
    kind.benchmark = {.batch = 16, .chosen = true};
    return kind;
}
ModelDescriptor resnet34_descriptor() {
    return described<plan34>("resnet34", "ResNet-34",
                             "Thirty-four layers with shortcuts and batch norm.");
}
ModelDescriptor resnet50_descriptor() {
    return described<plan50>("resnet50", "ResNet-50",
                             "Fifty layers in bottleneck blocks: the network that mixed-precision "
                             "training is usually measured on.");
}
ModelDescriptor resnet101_descriptor() {
    return described<plan101>("resnet101", "ResNet-101",
                              "A hundred and one layers in bottleneck blocks.");
}
ModelDescriptor resnet152_descriptor() {
    return described<plan152>("resnet152", "ResNet-152",
                              "A hundred and fifty-two layers in bottleneck blocks.");
}
ModelDescriptor resnext50_descriptor() {
    return described<next_plan50>(
        "resnext50", "ResNeXt-50 32x4d",
        "ResNet-50 with wider 3 x 3 convolutions that are split into 32 groups.");
}
ModelDescriptor resnext101_descriptor() {
    return described<next_plan101>(
        "resnext101", "ResNeXt-101 32x4d",
        "ResNet-101 with wider 3 x 3 convolutions that are split into 32 groups.");
}

}  // namespace engine
