#include <utility>
#include <vector>

#include "models/model.h"
#include "models/model_descriptor.h"
#include "models/resnet_body.h"
#include "models/shared_options.h"
#include "ops/pool/pool.h"
#include "ops/shape/view.h"

namespace engine {
namespace {

struct ResNetOptions {
    ImageStem stem = ImageStem::cifar;
    bool zero_init_last_norm = false;
};

/// A body with average pooling and one linear layer.
class ResNet final : public SimpleModel {
public:
    ResNet(const ResNetPlan& plan, const ResNetOptions& options, std::int64_t channels,
           std::int64_t classes, std::optional<std::int64_t> seed, const Device& device)
        : SimpleModel(seed, device),
          body_(registry_, plan, {.stem = options.stem, .channels = channels}),
          avgpool_("avgpool"),
          fc_(registry_, "fc", body_.width(ResNetBody::stage_count - 1), classes) {
        if (options.zero_init_last_norm) body_.zero_last_norms();
    }

    Tensor forward(const Tensor& x) override {
        Tensor h = body_.stem(*this, x);
        for (std::size_t i = 0; i < ResNetBody::stage_count; ++i)
            h = body_.stage(*this, i, std::move(h));
        return fc_(flatten(pool(h), 1));
    }
    bool casts_inputs_first() const override { return true; }
    bool convolves_inputs_first() const override { return true; }

private:
    Tensor pool(const Tensor& x) const {
        const ModuleScope opened(avgpool_);
        return adaptive_avg_pool2d(x, {1, 1});
    }

    ResNetBody body_;
    ModuleName avgpool_;
    Linear fc_;
};

template <const ResNetPlan& plan>
std::unique_ptr<Model> made(const ModelSetup& setup) {
    const Shape& picture = setup.shape.inputs.front().shape;
    return std::make_unique<ResNet>(plan,
                                    ResNetOptions{image_stem(setup.options, picture),
                                                  setup.options.flag("zero_init_last_norm")},
                                    picture[0], setup.shape.outputs, setup.seed, setup.device);
}

template <const ResNetPlan& plan>
ModelDescriptor described(const char* kind, const char* title, const char* summary) {
    return {.kind = kind,
            .title = title,
            .summary = summary,
            .inputs = {FieldKind::image},
            .options = {image_stem_option(),
                        option("zero_init_last_norm", "Zero-init last norm", false,
                               "Starts the last batch norm of each block with weight 0, so that "
                               "each block starts as the identity. Helps with large batches.")},
            .has_blocks = true,
            .make = made<plan>};
}

constexpr auto basic = ResNetPlan::Block::basic;
constexpr auto bottleneck = ResNetPlan::Block::bottleneck;
constexpr ResNetPlan plan34{basic, {3, 4, 6, 3}};
constexpr ResNetPlan plan101{bottleneck, {3, 4, 23, 3}};
constexpr ResNetPlan plan152{bottleneck, {3, 8, 36, 3}};
constexpr ResNetPlan next_plan50{bottleneck, {3, 4, 6, 3}, 32, 4};
constexpr ResNetPlan next_plan101{bottleneck, {3, 4, 23, 3}, 32, 4};

}  // namespace

ModelDescriptor resnet18_descriptor() {
    ModelDescriptor kind = described<resnet18_plan>("resnet18", "ResNet-18",
                                             "Eighteen layers with shortcuts and batch norm.");
    kind.benchmark = {.batch = 16, .chosen = true};
    return kind;
}
ModelDescriptor resnet34_descriptor() {
    return described<plan34>("resnet34", "ResNet-34",
                             "Thirty-four layers with shortcuts and batch norm.");
}
ModelDescriptor resnet50_descriptor() {
    return described<resnet50_plan>("resnet50", "ResNet-50",
                             "Fifty layers in bottleneck blocks: the network that mixed-precision "
                             "training is usually measured on.");
}
ModelDescriptor resnet101_descriptor() {
    return described<plan101>("resnet101", "ResNet-101",
                              "A hundred and one layers in bottleneck blocks.");
}
ModelDescriptor resnet152_descriptor() {
    return described<plan152>("resnet152", "ResNet-152",
                              "A hundred and fifty-two layers in bottleneck blocks.");
}
ModelDescriptor resnext50_descriptor() {
    return described<next_plan50>(
        "resnext50", "ResNeXt-50 32x4d",
        "ResNet-50 with wider 3 x 3 convolutions that are split into 32 groups.");
}
ModelDescriptor resnext101_descriptor() {
    return described<next_plan101>(
        "resnext101", "ResNeXt-101 32x4d",
        "ResNet-101 with wider 3 x 3 convolutions that are split into 32 groups.");
}

}  // namespace engine
