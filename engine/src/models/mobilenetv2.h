#pragma once

#include <vector>

#include "models/image_stem.h"
#include "models/model.h"

namespace engine {

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
    OnnxValue export_graph(OnnxGraph& graph, const OnnxValue& x) const override;

private:
    /// A convolution, its batch norm, and ReLU6 where `activation` is named.
    struct Layer {
        Conv2d conv;
        BatchNorm2d norm;
        ModuleName activation;
        bool active = false;

        Tensor operator()(const Tensor& x, bool training) const;
        OnnxValue graph(OnnxGraph& graph, const OnnxValue& x) const;
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

}  // namespace engine
