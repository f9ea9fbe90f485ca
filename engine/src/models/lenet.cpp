#include "engine/base/error.h"
#include "models/model.h"
#include "models/model_descriptor.h"
#include "nn/layers.h"
#include "ops/pointwise/activation.h"
#include "ops/pool/pool.h"
#include "ops/shape/view.h"

namespace engine {
namespace {

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

private:
    Conv2d conv1_, conv2_;
    Linear fc1_, fc2_, fc3_;
};

/// Side after a 5x5 convolution without padding and a 2x2 pool.
std::int64_t after_stage(std::int64_t side) { return (side - 4) / 2; }

LeNet::LeNet(const Shape& image, std::int64_t classes, std::optional<std::int64_t> seed,
             const Device& device)
    : SimpleModel(seed, device) {
    const std::int64_t height = after_stage(after_stage(image[1])),
                       width = after_stage(after_stage(image[2]));
    if (height < 1 || width < 1) {
        throw Error(
            ErrorCode::settings,
            msg("LeNet needs images of at least 16 x 16 pixels, not {} x {}.", image[1], image[2]));
    }
    conv1_ = Conv2d(registry_, "conv1", image[0], 6, 5, 1, 0, true, Conv2d::Init::uniform_fan_in);
    conv2_ = Conv2d(registry_, "conv2", 6, 16, 5, 1, 0, true, Conv2d::Init::uniform_fan_in);
    fc1_ = Linear(registry_, "fc1", 16 * height * width, 120);
    fc2_ = Linear(registry_, "fc2", 120, 84);
    fc3_ = Linear(registry_, "fc3", 84, classes);
}

Tensor LeNet::forward(const Tensor& x) {
    Tensor h = max_pool2d(relu(conv1_(x)), {.kernel = {2, 2}});
    h = max_pool2d(relu(conv2_(h)), {.kernel = {2, 2}});
    h = linear_relu(fc1_, flatten(h, 1));
    return fc3_(linear_relu(fc2_, h));
}

}  // namespace

ModelDescriptor lenet_descriptor() {
    return {
        .kind = "lenet",
        .title = "LeNet",
        .summary =
            "Two convolutions and three fully connected layers: trains in seconds on small images.",
        .inputs = {FieldKind::image},
        .second_derivative = true,
        .benchmark = {.batch = 128},
        .make = [](const ModelSetup& setup) -> std::unique_ptr<Model> {
            return std::make_unique<LeNet>(setup.shape.inputs.front().shape, setup.shape.outputs,
                                           setup.seed, setup.device);
        }};
}

}  // namespace engine
