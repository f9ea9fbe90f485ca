#include "models/resnet.h"

#include <utility>

#include "models/model_descriptor.h"
#include "pool/pool.h"
#include "shape/view.h"

namespace engine {
namespace {

constexpr auto he = Conv2d::Init::kaiming_normal_fan_out;

}  // namespace

ResNet18::ResNet18(std::int64_t channels, std::int64_t classes, std::optional<std::int64_t> seed,
                   const Device& device)
    : SimpleModel(seed, device), avgpool_("avgpool") {
    conv1_ = Conv2d(registry_, "conv1", channels, 64, 3, 1, 1, false, he);
    bn1_ = BatchNorm2d(registry_, "bn1", 64);
    std::int64_t in = 64;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
        const std::int64_t out = std::int64_t{64} << i;
        stages_[i] = make_stage("layer" + std::to_string(i + 1), in, out, i > 0 ? 2 : 1);
        in = out;
    }
    fc_ = Linear(registry_, "fc", 512, classes);
}

ResNet18::Stage ResNet18::make_stage(const std::string& name, std::int64_t in, std::int64_t out,
                                     std::int64_t stride) {
    Stage stage;
    stage.name = ModuleName(name);
    stage.blocks[0] = make_block(name + ".0", in, out, stride);
    stage.blocks[1] = make_block(name + ".1", out, out, 1);
    return stage;
}

ResNet18::Block ResNet18::make_block(const std::string& name, std::int64_t in, std::int64_t out,
                                     std::int64_t stride) {
    Block block;
    block.name = ModuleName(name);
    block.downsample = ModuleName(name + ".downsample");
    block.conv1 = Conv2d(registry_, name + ".conv1", in, out, 3, stride, 1, false, he);
    block.bn1 = BatchNorm2d(registry_, name + ".bn1", out);
    block.conv2 = Conv2d(registry_, name + ".conv2", out, out, 3, 1, 1, false, he);
    block.bn2 = BatchNorm2d(registry_, name + ".bn2", out);
    if (stride != 1 || in != out) {
        block.shortcut =
            Conv2d(registry_, name + ".downsample.0", in, out, 1, stride, 0, false, he);
        block.shortcut_bn = BatchNorm2d(registry_, name + ".downsample.1", out);
    }
    return block;
}

Tensor ResNet18::run(const Block& block, const Tensor& x) const {
    const Tensor h = block.bn1.relu(block.conv1(x), {}, training);
    const Tensor around = shortcut(block, x);
    return block.bn2.relu(block.conv2(h), around, training);
}

Tensor ResNet18::shortcut(const Block& block, const Tensor& x) const {
    if (!block.shortcut.weight.defined()) return x;
    const ModuleScope opened(block.downsample);
    return block.shortcut_bn(block.shortcut(x), training);
}

Tensor ResNet18::run(const Stage& stage, Tensor h) const {
    const ModuleScope opened(stage.name);
    for (const Block& each : stage.blocks)
        h = block(each.name, h, [this, &each](const Tensor& in) { return run(each, in); });
    return h;
}

Tensor ResNet18::pool(const Tensor& x) const {
    const ModuleScope opened(avgpool_);
    return adaptive_avg_pool2d(x, {1, 1});
}

Tensor ResNet18::forward(const Tensor& x) {
    Tensor h = bn1_.relu(conv1_(x), {}, training);
    for (const Stage& stage : stages_) h = run(stage, std::move(h));
    return fc_(flatten(pool(h), 1));
}

OnnxValue ResNet18::export_graph(OnnxGraph& graph, const OnnxValue& x) const {
    OnnxValue h = graph.node("Relu", {bn1_.graph(graph, conv1_.graph(graph, x))});
    for (const Stage& stage : stages_) {
        for (const Block& block : stage.blocks) h = block.graph(graph, h);
    }
    const ModuleScope opened(avgpool_);
    h = graph.node("Flatten", {graph.node("GlobalAveragePool", {h})});
    return fc_.graph(graph, h);
}

OnnxValue ResNet18::Block::graph(OnnxGraph& graph, const OnnxValue& x) const {
    const ModuleScope opened(name);
    OnnxValue h = graph.node("Relu", {bn1.graph(graph, conv1.graph(graph, x))});
    h = bn2.graph(graph, conv2.graph(graph, h));
    const OnnxValue around =
        shortcut.weight.defined() ? shortcut_bn.graph(graph, shortcut.graph(graph, x)) : x;
    return graph.node("Relu", {graph.node("Add", {h, around})});
}

ModelDescriptor resnet18_descriptor() {
    return {.kind = "resnet18",
            .title = "ResNet-18",
            .summary =
                "Eighteen layers with shortcuts and batch norm, with the stem for 32 x 32 images.",
            .inputs = {FieldKind::image},
            .has_blocks = true,
            .make = [](const ModelSetup& setup) -> std::unique_ptr<Model> {
                return std::make_unique<ResNet18>(setup.shape.inputs.front().shape[0],
                                                  setup.shape.outputs, setup.seed, setup.device);
            }};
}

}  // namespace engine
