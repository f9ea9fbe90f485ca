#pragma once

#include <vector>

#include "models/adversarial_model.h"
#include "nn/conv_transpose.h"

namespace engine {

/// A pair of convolutional networks for square images, as Radford et al. (2016) build them and
/// PyTorch's DCGAN example does for 64 x 64 (its discriminator's sigmoid is in the loss): side 4 to
/// 7 doubles to that of the image. Names as in the example, after "generator." and
/// "discriminator.".
class Dcgan final : public AdversarialModel {
public:
    struct Sizes {
        std::int64_t latent = 100;
        std::int64_t channels = 64;  ///< of the largest inner images
    };
    /// `image`: (C, S, S). Throws Error(settings) for another shape, or a side that is not 4, 5, 6
    /// or 7 doubled at least twice.
    Dcgan(const Shape& image, const Sizes& sizes, std::optional<std::int64_t> seed,
          const Device& device);

    Tensor generate(const Tensor& latent) override;
    Tensor discriminate(const Tensor& images) override;
    /// Exports the generator.
    OnnxValues export_graph(OnnxGraph& graph, const OnnxValues& inputs) const override;

private:
    void build_generator(std::int64_t image_channels, const Sizes& sizes);
    void build_discriminator(std::int64_t image_channels, const Sizes& sizes);

    ModuleName generator_, discriminator_;
    std::int64_t first_side_ = 4;
    std::int64_t doublings_ = 2;
    std::vector<ConvTranspose2d> up_;
    std::vector<BatchNorm2d> up_norms_;
    std::vector<Conv2d> down_;
    std::vector<BatchNorm2d> down_norms_;  // the first layer has none
};

}  // namespace engine
