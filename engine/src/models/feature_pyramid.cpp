#include "models/feature_pyramid.h"

#include <cmath>

#include "ops/pointwise/binary.h"
#include "ops/pool/pool.h"
#include "ops/vision/upsample.h"

namespace engine {
namespace {

/// Kaiming uniform with a = 1, bias 0.
Conv2d pyramid_conv(TensorRegistry& registry, const std::string& name, std::int64_t in,
                    std::int64_t out, std::int64_t kernel) {
    Conv2d conv;
    conv.module = ModuleName(name);
    conv.weight = registry.uniform(name + ".weight", {out, in, kernel, kernel},
                                   std::sqrt(3.0 / static_cast<double>(in * kernel * kernel)), true);
    conv.bias = registry.constant(name + ".bias", {out}, 0, true);
    conv.padding = kernel / 2;
    return conv;
}

}  // namespace

FeaturePyramid::FeaturePyramid(TensorRegistry& registry, const std::string& name,
                               std::span<const std::int64_t> widths, std::int64_t channels)
    : module_(name), half_(name + ".extra_blocks") {
    const auto layer = [&](const char* list, std::size_t i) {
        return name + list + std::to_string(i) + ".0";
    };
    for (std::size_t i = 0; i < widths.size(); ++i)
        inner_.push_back(
            pyramid_conv(registry, layer(".inner_blocks.", i), widths[i], channels, 1));
    for (std::size_t i = 0; i < widths.size(); ++i)
        outer_.push_back(
            pyramid_conv(registry, layer(".layer_blocks.", i), channels, channels, 3));
}

Tensor FeaturePyramid::lateral(std::size_t index, const Tensor& map) const {
    const ModuleScope opened(module_);
    return inner_[index](map);
}

TensorList FeaturePyramid::operator()(const TensorList& laterals) const {
    const ModuleScope opened(module_);
    TensorList maps(laterals.size());
    Tensor sum;
    for (std::size_t i = laterals.size(); i-- > 0;) {
        const Tensor& lateral = laterals[i];
        sum = sum.defined()
                  ? add(lateral, upsample(UpsampleMode::nearest, sum,
                                          {{lateral.size(2), lateral.size(3)}, {}}))
                  : lateral;
        maps[i] = outer_[i](sum);
    }
    const ModuleScope halving(half_);
    maps.push_back(
        max_pool2d(maps.back(), {.kernel = {1, 1}, .stride = {{2, 2}}, .padding = {0, 0}}));
    return maps;
}

}  // namespace engine
