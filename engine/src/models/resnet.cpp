#include "models/resnet.h"

#include "models/model_descriptor.h"
#include "pool/pool.h"
#include "shape/view.h"

namespace engine {
namespace {

constexpr auto he = Conv2d::Init::kaiming_normal_fan_out;

}  // namespace

ResNet18::ResNet18(std::int64_t channels, std::int64_t classes, std::optional<std::int64_t> seed,
                   const Device& device)
    : SimpleModel(seed, device) {
    conv1_ = Conv2d(registry_, "conv1", channels, 64, 3, 1, 1, false, he);
    bn1_ = BatchNorm2d(registry_, "bn1", 64);
    std::int64_t in = 64;
    for (int stage = 0; stage < 4; ++stage) {
        const std::int64_t out = 64 << stage;
        for (int i = 0; i < 2; ++i) {
            const std::string name = "layer" + std::to_string(stage + 1) + "." + std::to_string(i);
            blocks_.push_back(make_block(name, in, out, stage > 0 && i == 0 ? 2 : 1));
            in = out;
        }
    }
    fc_ = Linear(registry_, "fc", 512, classes);
}

ResNet18::Block ResNet18::make_block(const std::string& name, std::int64_t in, std::int64_t out,
                                     std::int64_t stride) {
    Block block;
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
    const Tensor shortcut =
        block.shortcut.weight.defined() ? block.shortcut_bn(block.shortcut(x), training) : x;
    return block.bn2.relu(block.conv2(h), shortcut, training);
}

Tensor ResNet18::forward(const Tensor& x) {
    Tensor h = bn1_.relu(conv1_(x), {}, training);
    for (const auto& each : blocks_)
        h = block(h, [this, &each](const Tensor& in) { return run(each, in); });
    return fc_(flatten(adaptive_avg_pool2d(h, {1, 1}), 1));
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
