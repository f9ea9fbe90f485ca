#include <algorithm>
#include <array>

#include "engine/catalog.h"
#include "engine/error.h"
#include "models/lenet.h"
#include "models/mlp.h"
#include "models/resnet.h"

namespace engine {
namespace {

const std::vector<std::int64_t> default_hidden{64, 64};

std::vector<std::int64_t> hidden_of(const ModelConfig& config) {
    const auto found = config.options.find("hidden");
    if (found == config.options.end()) return default_hidden;
    if (const auto* sizes = std::get_if<std::vector<std::int64_t>>(&found->second)) return *sizes;
    if (const auto* one = std::get_if<std::int64_t>(&found->second)) return {*one};
    throw Error(ErrorCode::settings,
                msg("model.options.hidden must be a list of layer sizes, for instance [64, 64]."));
}

const std::vector<std::string> image_sets{"glyphs", "mnist", "fashion-mnist", "cifar10",
                                          "cifar100"};

std::vector<std::string> all_sets() {
    std::vector<std::string> kinds = image_sets;
    kinds.insert(kinds.begin(), "spirals");
    return kinds;
}

std::vector<ModelInfo> make_catalog() {
    return {
        {"mlp",
         "MLP",
         "Fully connected layers with ReLU between them: the smallest network that learns.",
         {{"hidden", default_hidden, "Sizes of the hidden layers, first to last."}},
         all_sets()},
        {"lenet",
         "LeNet",
         "Two convolutions and three fully connected layers: trains in seconds on small images.",
         {},
         image_sets},
        {"resnet18",
         "ResNet-18",
         "Eighteen layers with shortcuts and batch norm, with the stem for 32 x 32 images.",
         {},
         {"cifar10", "cifar100"}},
    };
}

}  // namespace

std::span<const ModelInfo> models() {
    static const std::vector<ModelInfo> catalog = make_catalog();
    return catalog;
}

std::unique_ptr<Model> make_model(const ModelConfig& config, const SampleShape& sample,
                                  std::int64_t classes, std::optional<std::int64_t> seed,
                                  const Device& device) {
    if (config.kind == "mlp")
        return std::make_unique<Mlp>(hidden_of(config), sample.elements(), classes, seed, device);
    if (config.kind == "lenet") return std::make_unique<LeNet>(sample, classes, seed, device);
    if (config.kind == "resnet18") return std::make_unique<ResNet18>(sample, classes, seed, device);
    throw Error(ErrorCode::settings, msg("There is no model called {}.", config.kind));
}

std::int64_t parameter_count(const RunConfig& config) {
    const auto kinds = datasets();
    const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const DatasetInfo& info) {
        return info.kind == config.dataset.kind;
    });
    if (found == kinds.end()) return 0;
    const auto& shape = found->sample_shape;
    const SampleShape sample{shape[0], shape.size() > 1 ? shape[1] : 1,
                             shape.size() > 2 ? shape[2] : 1};
    return make_model(config.model, sample, found->classes, std::nullopt, Device{})
        ->parameter_count();
}

std::int64_t Model::parameter_count() const {
    std::int64_t count = 0;
    for (const auto& parameter : parameters()) count += parameter.tensor.numel();
    return count;
}

}  // namespace engine
