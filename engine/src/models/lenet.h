#pragma once

#include "models/model.h"

namespace engine {

/// LeNet with 5x5 convolutions of 6 and 16 channels, ReLU, 2x2 max pool after each, then 120, 84,
/// classes: conv1 conv2 fc1 fc2 fc3. Samples of at least 16x16 pixels (LeCun et al. 1998, with ReLU
/// and max pooling).
class LeNet final : public SimpleModel {
public:
    /// `image`: (C, H, W). Throws Error(settings) if it is too small.
    LeNet(const Shape& image, std::int64_t classes, std::optional<std::int64_t> seed,
          const Device& device);
    Tensor forward(const Tensor& x) override;
    bool casts_inputs_first() const override { return true; }
    bool convolves_inputs_first() const override { return true; }
    OnnxValue export_graph(OnnxGraph& graph, const OnnxValue& x) const override;

private:
    Conv2d conv1_, conv2_;
    Linear fc1_, fc2_, fc3_;
};

}  // namespace engine
