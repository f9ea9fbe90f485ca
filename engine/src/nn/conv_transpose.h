#pragma once

#include "nn/layers.h"

namespace engine {

/// Square kernel; weight (in, out, k, k); PyTorch's default init. An image of side s becomes one of
/// (s - 1) * stride - 2 * padding + k.
struct ConvTranspose2d {
    ModuleName module;
    Tensor weight, bias;
    std::int64_t stride = 1, padding = 0;
    ConvTranspose2d() = default;
    ConvTranspose2d(TensorRegistry& registry, const std::string& name, std::int64_t in,
                    std::int64_t out, std::int64_t kernel, std::int64_t stride_,
                    std::int64_t padding_);
    Tensor operator()(const Tensor& x) const;
    OnnxValue graph(OnnxGraph& graph, const OnnxValue& x) const;
};

}  // namespace engine
