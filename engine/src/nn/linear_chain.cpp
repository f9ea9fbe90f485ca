#include "nn/linear_chain.h"

#include <array>

#include "nn/linear_relu.h"
#include "ops/linalg/linear_chain.h"

namespace engine {
namespace {

/// Undefined where the layers cannot be one node.
Tensor as_one(std::span<const Linear> layers, const Tensor& x) {
    std::array<LinearTerms, longest_linear_chain> terms;
    if (layers.size() > terms.size()) return {};
    for (std::size_t i = 0; i < layers.size(); ++i) terms[i] = {&layers[i].weight, &layers[i].bias};
    return linear_chain(x, std::span(terms).first(layers.size()));
}

}  // namespace

Tensor linear_chain(std::span<const Linear> layers, const Tensor& x) {
    if (Tensor y = as_one(layers, x); y.defined()) return y;
    Tensor h = x;
    for (const Linear& layer : layers.first(layers.size() - 1)) h = linear_relu(layer, h);
    return layers.back()(h);
}

}  // namespace engine
