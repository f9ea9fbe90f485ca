#include "models/model.h"
#include "models/model_descriptor.h"
#include "nn/layers.h"
#include "ops/shape/view.h"

namespace engine {
namespace {

/// Fully connected layers with ReLU between them: names fc1, fc2, ... Images are flattened.
class Mlp final : public SimpleModel {
public:
    Mlp(const std::vector<std::int64_t>& hidden, std::int64_t inputs, std::int64_t outputs,
        std::optional<std::int64_t> seed, const Device& device);
    Tensor forward(const Tensor& x) override;
    bool casts_inputs_first() const override { return true; }

private:
    std::vector<Linear> layers_;
};

Mlp::Mlp(const std::vector<std::int64_t>& hidden, std::int64_t inputs, std::int64_t outputs,
         std::optional<std::int64_t> seed, const Device& device)
    : SimpleModel(seed, device) {
    std::int64_t in = inputs;
    for (const std::int64_t out : hidden) {
        layers_.emplace_back(registry_, "fc" + std::to_string(layers_.size() + 1), in, out);
        in = out;
    }
    layers_.emplace_back(registry_, "fc" + std::to_string(layers_.size() + 1), in, outputs);
}

Tensor Mlp::forward(const Tensor& x) {
    return linear_chain(layers_, x.rank() == 2 ? x : flatten(x, 1));
}

}  // namespace

ModelDescriptor mlp_descriptor() {
    return {.kind = "mlp",
            .title = "MLP",
            .summary =
                "Fully connected layers with ReLU between them: the smallest network that learns.",
            .inputs = {FieldKind::features, FieldKind::image},
            .options = {option("hidden", "Hidden layers", std::vector<std::int64_t>{64, 64},
                               "Sizes of the hidden layers, first to last.", opt::between(1, 65536),
                               opt::prominent)},
            .second_derivative = true,
            .benchmark = {.batch = 32, .chosen = true},
            .make = [](const ModelSetup& setup) -> std::unique_ptr<Model> {
                return std::make_unique<Mlp>(setup.options.integers("hidden"),
                                             setup.shape.inputs.front().shape.numel(),
                                             setup.shape.outputs, setup.seed, setup.device);
            }};
}

}  // namespace engine
