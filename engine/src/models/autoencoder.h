#pragma once

#include "models/model.h"
#include "nn/conv_transpose.h"

namespace engine {

/// An autoencoder: two convolutions of stride 2 and a linear layer to a narrow code, and the
/// reverse, with ReLU between and a sigmoid at the end. Names as in two torch.nn.Sequential:
/// encoder.0, .2, .5, decoder.0, .3, .5.
class Autoencoder final : public SimpleModel {
public:
    /// `image`: (C, H, W). Throws Error(settings) unless H and W are multiples of 4.
    Autoencoder(const Shape& image, std::int64_t code, std::int64_t channels,
                std::optional<std::int64_t> seed, const Device& device);
    /// (N, C, H, W) -> (N, C, H, W), in (0, 1)
    Tensor forward(const Tensor& x) override;
    OnnxValue export_graph(OnnxGraph& graph, const OnnxValue& x) const override;

private:
    Tensor encode(const Tensor& x) const;
    Tensor decode(const Tensor& code) const;

    ModuleName encoder_, decoder_;
    Conv2d conv1_, conv2_;
    Linear to_code_, from_code_;
    ConvTranspose2d up1_, up2_;
    Shape inner_;  // (C, H, W) of what the convolutions leave
};

}  // namespace engine
