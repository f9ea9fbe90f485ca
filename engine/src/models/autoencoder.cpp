#include "engine/base/error.h"
#include "models/model.h"
#include "models/model_descriptor.h"
#include "nn/layers.h"
#include "ops/pointwise/activation.h"
#include "ops/shape/view.h"

namespace engine {
namespace {

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

private:
    Tensor encode(const Tensor& x) const;
    Tensor decode(const Tensor& code) const;

    ModuleName encoder_, decoder_;
    Conv2d conv1_, conv2_;
    Linear to_code_, from_code_;
    ConvTranspose2d up1_, up2_;
    Shape inner_;  // (C, H, W) of what the convolutions leave
};

constexpr auto uniform = Conv2d::Init::uniform_fan_in;

void check_image(const Shape& image) {
    const bool fits = image[1] % 4 == 0 && image[2] % 4 == 0;
    if (fits) return;
    throw Error(ErrorCode::settings,
                msg("The autoencoder needs images whose sides are multiples of 4, not {} x {}.",
                    image[1], image[2]));
}

Autoencoder::Autoencoder(const Shape& image, std::int64_t code, std::int64_t channels,
                         std::optional<std::int64_t> seed, const Device& device)
    : SimpleModel(seed, device), encoder_("encoder"), decoder_("decoder") {
    check_image(image);
    inner_ = {2 * channels, image[1] / 4, image[2] / 4};
    conv1_ = Conv2d(registry_, "encoder.0", image[0], channels, 3, 2, 1, true, uniform);
    conv2_ = Conv2d(registry_, "encoder.2", channels, 2 * channels, 3, 2, 1, true, uniform);
    to_code_ = Linear(registry_, "encoder.5", inner_.numel(), code);
    from_code_ = Linear(registry_, "decoder.0", code, inner_.numel());
    up1_ = ConvTranspose2d(registry_, "decoder.3", 2 * channels, channels, 4, 2, 1);
    up2_ = ConvTranspose2d(registry_, "decoder.5", channels, image[0], 4, 2, 1);
}

Tensor Autoencoder::encode(const Tensor& x) const {
    const ModuleScope opened(encoder_);
    const Tensor h = relu(conv2_(relu(conv1_(x))));
    return to_code_(flatten(h, 1));
}

Tensor Autoencoder::decode(const Tensor& code) const {
    const ModuleScope opened(decoder_);
    const Tensor h = relu(from_code_(code));
    const Tensor image = reshape(h, {h.size(0), inner_[0], inner_[1], inner_[2]});
    return sigmoid(up2_(relu(up1_(image))));
}

Tensor Autoencoder::forward(const Tensor& x) { return decode(encode(x)); }

}  // namespace

ModelDescriptor autoencoder_descriptor() {
    return {.kind = "autoencoder",
            .title = "Autoencoder",
            .summary = "Compresses an image to a short code and reconstructs it from that.",
            .inputs = {FieldKind::image},
            .output = ModelOutput::image,
            .options = {option("code", "Code", std::int64_t{32},
                               "Length of the code that an image is compressed to.",
                               opt::between(1, 65536), opt::prominent),
                        option("channels", "Channels", std::int64_t{16},
                               "Channels of the first convolution; the second has twice as many.",
                               opt::between(1, 4096))},
            .second_derivative = true,
            .benchmark = {.batch = 64},
            .make = [](const ModelSetup& setup) -> std::unique_ptr<Model> {
                return std::make_unique<Autoencoder>(
                    setup.shape.inputs.front().shape, setup.options.integer("code"),
                    setup.options.integer("channels"), setup.seed, setup.device);
            }};
}

}  // namespace engine
