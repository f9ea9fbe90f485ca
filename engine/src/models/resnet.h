#pragma once

#include <array>

#include "models/model.h"

namespace engine {

/// ResNet-18 (He et al. 2015) with the CIFAR stem: a 3x3 convolution of stride 1 and no max pool.
/// torchvision's names.
class ResNet18 final : public SimpleModel {
public:
    ResNet18(std::int64_t channels, std::int64_t classes, std::optional<std::int64_t> seed,
             const Device& device);
    Tensor forward(const Tensor& x) override;
    OnnxValue export_graph(OnnxGraph& graph, const OnnxValue& x) const override;

private:
    /// Two 3x3 convolutions and a shortcut; the first and the shortcut may have stride 2.
    struct Block {
        ModuleName name, downsample;
        Conv2d conv1, conv2;
        BatchNorm2d bn1, bn2;
        Conv2d shortcut;  // undefined weight: identity
        BatchNorm2d shortcut_bn;

        OnnxValue graph(OnnxGraph& graph, const OnnxValue& x) const;
    };
    struct Stage {
        ModuleName name;
        std::array<Block, 2> blocks;
    };
    Stage make_stage(const std::string& name, std::int64_t in, std::int64_t out,
                     std::int64_t stride);
    Block make_block(const std::string& name, std::int64_t in, std::int64_t out,
                     std::int64_t stride);
    /// Takes its input over, so that it can be freed after the first block.
    Tensor run(const Stage& stage, Tensor h) const;
    Tensor run(const Block& block, const Tensor& x) const;
    /// The way around the convolutions.
    Tensor shortcut(const Block& block, const Tensor& x) const;
    Tensor pool(const Tensor& x) const;

    Conv2d conv1_;
    BatchNorm2d bn1_;
    std::array<Stage, 4> stages_;
    ModuleName avgpool_;
    Linear fc_;
};

}  // namespace engine
