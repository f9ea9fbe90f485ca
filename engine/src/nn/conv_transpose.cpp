#include "nn/conv_transpose.h"

#include <cmath>

#include "ops/conv/conv_transpose.h"

namespace engine {

ConvTranspose2d::ConvTranspose2d(TensorRegistry& registry, const std::string& name, std::int64_t in,
                                 std::int64_t out, std::int64_t kernel, std::int64_t stride_,
                                 std::int64_t padding_)
    : module(name), stride(stride_), padding(padding_) {
    // PyTorch takes the second size for the fan-in, which is that of a convolution's weight.
    const double bound = 1.0 / std::sqrt(static_cast<double>(out * kernel * kernel));
    weight = registry.uniform(name + ".weight", {in, out, kernel, kernel}, bound, true);
    bias = registry.uniform(name + ".bias", {out}, bound, true);
}

Tensor ConvTranspose2d::operator()(const Tensor& x) const {
    const ModuleScope opened(module);
    return conv_transpose2d(x, weight, bias,
                            {.stride = {stride, stride}, .padding = {padding, padding}});
}

OnnxValue ConvTranspose2d::graph(OnnxGraph& graph, const OnnxValue& x) const {
    const ModuleScope opened(module);
    const std::string& name = module.text();
    OnnxValues inputs{x, graph.weight(name + ".weight", weight)};
    if (bias.defined()) inputs.push_back(graph.weight(name + ".bias", bias));
    using Sizes = std::vector<std::int64_t>;
    return graph.node("ConvTranspose", inputs,
                      {{"kernel_shape", Sizes{weight.size(2), weight.size(3)}},
                       {"strides", Sizes{stride, stride}},
                       {"pads", Sizes(4, padding)}});
}

}  // namespace engine
