#pragma once

#include <array>
#include <vector>

#include "models/image_stem.h"
#include "models/model.h"

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
    OnnxValue export_graph(OnnxGraph& graph, const OnnxValue& x) const override;

private:
    /// Convolutions, each with its batch norm, and a shortcut around them.
    struct Block {
        ModuleName name, downsample;
        std::vector<Conv2d> convs;
        std::vector<BatchNorm2d> norms;
        Conv2d shortcut;  // undefined weight: identity
        BatchNorm2d shortcut_bn;

        OnnxValue graph(OnnxGraph& graph, const OnnxValue& x) const;
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

}  // namespace engine
