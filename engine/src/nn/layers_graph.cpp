#include "io/onnx/onnx_graph.h"
#include "nn/layers.h"

// The layers as pieces of an ONNX graph, in evaluation mode.
namespace engine {

OnnxValue Linear::graph(OnnxGraph& graph, const OnnxValue& x) const {
    const ModuleScope opened(module);
    const std::string& name = module.text();
    return graph.node(
        "Gemm", {x, graph.weight(name + ".weight", weight), graph.weight(name + ".bias", bias)},
        {{"transB", std::int64_t{1}}});
}

OnnxValue Embedding::graph(OnnxGraph& graph, const OnnxValue& index) const {
    const ModuleScope opened(module);
    return graph.node("Gather", {graph.weight(module.text() + ".weight", weight), index});
}

OnnxValue Conv2d::graph(OnnxGraph& graph, const OnnxValue& x) const {
    const ModuleScope opened(module);
    const std::string& name = module.text();
    OnnxValues inputs{x, graph.weight(name + ".weight", weight)};
    if (bias.defined()) inputs.push_back(graph.weight(name + ".bias", bias));
    using Sizes = std::vector<std::int64_t>;
    return graph.node("Conv", inputs,
                      {{"kernel_shape", Sizes{weight.size(2), weight.size(3)}},
                       {"strides", Sizes{stride, stride}},
                       {"pads", Sizes(4, padding)},
                       {"group", groups}});
}

OnnxValue BatchNorm2d::graph(OnnxGraph& graph, const OnnxValue& x) const {
    const ModuleScope opened(module);
    const std::string& name = module.text();
    const Shape channels = running_mean.shape();
    const auto ones = [&] { return Tensor::full(channels, 1, DType::f32, Device{}); };
    const auto zeros = [&] { return Tensor::full(channels, 0, DType::f32, Device{}); };
    // All f32 in an fp16 graph too: a variance easily leaves the range of fp16.
    return graph.node("BatchNormalization",
                      {x, graph.statistic(name + ".weight", weight.defined() ? weight : ones()),
                       graph.statistic(name + ".bias", bias.defined() ? bias : zeros()),
                       graph.statistic(name + ".running_mean", running_mean),
                       graph.statistic(name + ".running_var", running_var)});
}

}  // namespace engine
