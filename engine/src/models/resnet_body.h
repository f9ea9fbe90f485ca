#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/model.h"
#include "models/shared_options.h"

namespace engine {

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

/// The stem and the four stages of a ResNet (He et al. 2015) in the form called v1.5: a
/// bottleneck's stride is in its 3x3 convolution. With groups, ResNeXt (Xie et al. 2016).
/// torchvision's names and initial weights.
class ResNetBody {
public:
    struct Form {
        std::string prefix = {};  ///< of the names, with its dot
        ImageStem stem = ImageStem::imagenet;
        std::int64_t channels = 3;               ///< of the pictures
        std::optional<double> frozen_eps = {};  ///< norms are frozen, with this eps
    };
    static constexpr std::size_t stage_count = 4;

    ResNetBody(TensorRegistry& registry, const ResNetPlan& plan, const Form& form);

    // `model`, whose tensors these are, says whether it trains and recomputes its blocks.

    /// Pictures (N, C, H, W) to the input of the first stage.
    Tensor stem(const Model& model, const Tensor& x) const;
    /// Takes its input over, so that it can be freed after the first block.
    Tensor stage(const Model& model, std::size_t index, Tensor h) const;
    /// Channels that the stage gives.
    std::int64_t width(std::size_t stage) const;
    /// The last norm of each block starts with a weight of 0, so that the block starts as the
    /// identity (Goyal et al. 2017).
    void zero_last_norms() const;

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
    Stage make_stage(TensorRegistry& registry, std::size_t index, std::int64_t in) const;
    Block make_block(TensorRegistry& registry, const std::string& name, std::int64_t in,
                     std::int64_t planes, std::int64_t stride) const;
    BatchNorm2d make_norm(TensorRegistry& registry, const std::string& name,
                          std::int64_t channels) const;
    Tensor run(const Model& model, const Block& block, const Tensor& x) const;
    /// The path around the convolutions.
    Tensor shortcut(const Model& model, const Block& block, const Tensor& x) const;

    ResNetPlan plan_;
    Form form_;
    Conv2d conv1_;
    BatchNorm2d bn1_;
    ModuleName maxpool_;
    std::array<Stage, stage_count> stages_;
};

/// Plans of torchvision's networks of these names.
inline constexpr ResNetPlan resnet18_plan{ResNetPlan::Block::basic, {2, 2, 2, 2}};
inline constexpr ResNetPlan resnet50_plan{ResNetPlan::Block::bottleneck, {3, 4, 6, 3}};

}  // namespace engine
