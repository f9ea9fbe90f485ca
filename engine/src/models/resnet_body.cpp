#include "models/resnet_body.h"

#include <utility>

#include "ops/pool/pool.h"

namespace engine {
namespace {

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

}  // namespace

ResNetBody::ResNetBody(TensorRegistry& registry, const ResNetPlan& plan, const Form& form)
    : plan_(plan), form_(form), maxpool_(form.prefix + "maxpool") {
    const std::string& prefix = form.prefix;
    conv1_ = form.stem == ImageStem::imagenet
                 ? Conv2d(registry, prefix + "conv1", form.channels, first_width, 7, 2, 3, false, he)
                 : Conv2d(registry, prefix + "conv1", form.channels, first_width, 3, 1, 1, false, he);
    bn1_ = make_norm(registry, prefix + "bn1", first_width);
    std::int64_t in = first_width;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
        stages_[i] = make_stage(registry, i, in);
        in = width(i);
    }
}

std::int64_t ResNetBody::width(std::size_t stage) const {
    return (first_width << stage) * expansion(plan_);
}

BatchNorm2d ResNetBody::make_norm(TensorRegistry& registry, const std::string& name,
                                  std::int64_t channels) const {
    if (form_.frozen_eps) return BatchNorm2d::frozen(registry, name, channels, *form_.frozen_eps);
    return {registry, name, channels};
}

ResNetBody::Stage ResNetBody::make_stage(TensorRegistry& registry, std::size_t index,
                                         std::int64_t in) const {
    Stage stage;
    const std::string name = form_.prefix + "layer" + std::to_string(index + 1);
    stage.name = ModuleName(name);
    const std::int64_t planes = first_width << index;
    for (int i = 0; i < plan_.depths[index]; ++i) {
        const std::int64_t stride = index > 0 && i == 0 ? 2 : 1;
        stage.blocks.push_back(
            make_block(registry, name + "." + std::to_string(i), in, planes, stride));
        in = planes * expansion(plan_);
    }
    return stage;
}

ResNetBody::Block ResNetBody::make_block(TensorRegistry& registry, const std::string& name,
                                         std::int64_t in, std::int64_t planes,
                                         std::int64_t stride) const {
    Block block;
    block.name = ModuleName(name);
    block.downsample = ModuleName(name + ".downsample");
    const auto add = [&](std::int64_t from, std::int64_t to, std::int64_t kernel, std::int64_t step,
                         std::int64_t groups) {
        const std::string number = std::to_string(block.convs.size() + 1);
        block.convs.emplace_back(registry, name + ".conv" + number, from, to, kernel, step,
                                 kernel / 2, false, he, groups);
        block.norms.push_back(make_norm(registry, name + ".bn" + number, to));
    };
    const std::int64_t out = planes * expansion(plan_);
    if (plan_.block == ResNetPlan::Block::bottleneck) {
        const std::int64_t inner = inner_width(plan_, planes);
        add(in, inner, 1, 1, 1);
        add(inner, inner, 3, stride, plan_.groups);
        add(inner, out, 1, 1, 1);
    } else {
        add(in, out, 3, stride, 1);
        add(out, out, 3, 1, 1);
    }
    if (stride != 1 || in != out) {
        block.shortcut =
            Conv2d(registry, name + ".downsample.0", in, out, 1, stride, 0, false, he);
        block.shortcut_bn = make_norm(registry, name + ".downsample.1", out);
    }
    return block;
}

void ResNetBody::zero_last_norms() const {
    for (const Stage& stage : stages_) {
        for (const Block& block : stage.blocks) {
            Tensor weight = block.norms.back().weight;
            const std::vector<float> zeros(static_cast<std::size_t>(weight.numel()), 0.f);
            weight.copy_from_host(zeros.data());
        }
    }
}

Tensor ResNetBody::stem(const Model& model, const Tensor& x) const {
    const Tensor h = bn1_.relu(conv1_(x), {}, model.training);
    if (form_.stem == ImageStem::cifar) return h;
    const ModuleScope opened(maxpool_);
    return max_pool2d(h, {.kernel = {3, 3}, .stride = {{2, 2}}, .padding = {1, 1}});
}

Tensor ResNetBody::stage(const Model& model, std::size_t index, Tensor h) const {
    const Stage& stage = stages_[index];
    const ModuleScope opened(stage.name);
    for (const Block& each : stage.blocks)
        h = model.block(each.name, h,
                        [this, &model, &each](const Tensor& in) { return run(model, each, in); });
    return h;
}

Tensor ResNetBody::run(const Model& model, const Block& block, const Tensor& x) const {
    Tensor h = x;
    const std::size_t last = block.convs.size() - 1;
    for (std::size_t i = 0; i < last; ++i)
        h = block.norms[i].relu(block.convs[i](h), {}, model.training);
    const Tensor around = shortcut(model, block, x);
    return block.norms[last].relu(block.convs[last](h), around, model.training);
}

Tensor ResNetBody::shortcut(const Model& model, const Block& block, const Tensor& x) const {
    if (!block.shortcut.weight.defined()) return x;
    const ModuleScope opened(block.downsample);
    return block.shortcut_bn(block.shortcut(x), model.training);
}

}  // namespace engine
