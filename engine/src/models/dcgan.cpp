#include <vector>

#include "engine/base/error.h"
#include "models/model.h"
#include "models/model_descriptor.h"
#include "nn/layers.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/piecewise.h"
#include "ops/shape/view.h"

namespace engine {
namespace {

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

constexpr double initial_deviation = 0.02;  // of all convolutions, as in the paper
constexpr double slope = 0.2;

void check_image(const Shape& image, std::int64_t doublings) {
    if (image[1] == image[2] && doublings >= 2) return;
    throw Error(ErrorCode::settings,
                msg("The DCGAN needs square images whose side is 4, 5, 6 or 7, doubled at least "
                    "twice (16, 28, 32, 64), not {} x {}.",
                    image[1], image[2]));
}

std::string layer_name(const std::string& network, std::size_t index) {
    return network + ".main." + std::to_string(index);
}

ConvTranspose2d up_layer(TensorRegistry& registry, const std::string& name, std::int64_t in,
                         std::int64_t out, std::int64_t kernel, std::int64_t stride) {
    ConvTranspose2d layer;
    layer.module = ModuleName(name);
    layer.weight =
        registry.normal(name + ".weight", {in, out, kernel, kernel}, initial_deviation, true);
    layer.stride = stride;
    layer.padding = stride - 1;
    return layer;
}

Conv2d down_layer(TensorRegistry& registry, const std::string& name, std::int64_t in,
                  std::int64_t out, std::int64_t kernel, std::int64_t stride) {
    Conv2d layer;
    layer.module = ModuleName(name);
    layer.weight =
        registry.normal(name + ".weight", {out, in, kernel, kernel}, initial_deviation, true);
    layer.stride = stride;
    layer.padding = stride - 1;
    return layer;
}

Dcgan::Dcgan(const Shape& image, const Sizes& sizes, std::optional<std::int64_t> seed,
             const Device& device)
    : AdversarialModel(seed, device), generator_("generator"), discriminator_("discriminator") {
    first_side_ = image[1];
    doublings_ = 0;
    for (; first_side_ > 7 && first_side_ % 2 == 0; first_side_ /= 2) ++doublings_;
    check_image(image, first_side_ <= 7 ? doublings_ : 0);
    build_generator(image[0], sizes);
    build_discriminator(image[0], sizes);
}

void Dcgan::build_generator(std::int64_t image_channels, const Sizes& sizes) {
    std::int64_t in = sizes.latent, out = sizes.channels << (doublings_ - 1);
    up_.push_back(up_layer(registry_, layer_name("generator", 0), in, out, first_side_, 1));
    for (std::int64_t i = 0; i < doublings_; ++i) {
        const std::size_t at = 3 * up_.size();  // convolution, batch norm, ReLU
        up_norms_.emplace_back(registry_, layer_name("generator", at - 2), out);
        in = out;
        out = i + 1 < doublings_ ? in / 2 : image_channels;
        up_.push_back(up_layer(registry_, layer_name("generator", at), in, out, 4, 2));
    }
}

void Dcgan::build_discriminator(std::int64_t image_channels, const Sizes& sizes) {
    const auto name = [](std::size_t index) { return layer_name("discriminator", index); };
    std::int64_t in = image_channels, out = sizes.channels;
    down_.push_back(down_layer(registry_, name(0), in, out, 4, 2));
    std::size_t at = 2;  // after the first layer's LeakyReLU
    for (std::int64_t i = 1; i < doublings_; ++i, at += 3) {
        in = out;
        out = 2 * in;
        down_.push_back(down_layer(registry_, name(at), in, out, 4, 2));
        down_norms_.emplace_back(registry_, name(at + 1), out);
    }
    down_.push_back(down_layer(registry_, name(at), out, 1, first_side_, 1));
}

Tensor Dcgan::generate(const Tensor& latent) {
    const ModuleScope opened(generator_);
    Tensor h = reshape(latent, {latent.size(0), latent.size(1), 1, 1});
    for (std::size_t i = 0; i + 1 < up_.size(); ++i) h = up_norms_[i].relu(up_[i](h), {}, training);
    return tanh(up_.back()(h));
}

Tensor Dcgan::discriminate(const Tensor& images) {
    const ModuleScope opened(discriminator_);
    Tensor h = leaky_relu(down_.front()(images), slope);
    for (std::size_t i = 1; i + 1 < down_.size(); ++i)
        h = leaky_relu(down_norms_[i - 1](down_[i](h), training), slope);
    return reshape(down_.back()(h), {images.size(0)});
}

}  // namespace

ModelDescriptor dcgan_descriptor() {
    return {
        .kind = "dcgan",
        .title = "DCGAN",
        .summary =
            "One network draws images from random numbers, another tells them from "
            "real ones; each learns from the other.",
        .inputs = {FieldKind::image},
        .output = ModelOutput::generated,
        .options =
            {option("latent", "Latent numbers", std::int64_t{100},
                    "Number of random numbers that an image is drawn from.", opt::between(1, 65536),
                    opt::prominent),
             option("channels", "Channels", std::int64_t{64},
                    "Channels of the largest feature maps; each halving of the side doubles them.",
                    opt::between(1, 4096), opt::prominent)},
        .make = [](const ModelSetup& setup) -> std::unique_ptr<Model> {
            return std::make_unique<Dcgan>(
                setup.shape.output,
                Dcgan::Sizes{setup.options.integer("latent"), setup.options.integer("channels")},
                setup.seed, setup.device);
        }};
}

}  // namespace engine
