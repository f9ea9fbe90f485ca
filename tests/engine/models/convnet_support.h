#pragma once

#include <memory>
#include <string>
#include <vector>

#include "autograd/backward.h"
#include "made_models.h"
#include "models/onnx_export.h"
#include "ops/loss/cross_entropy.h"
#include "tensor/tensor.h"

namespace engine::test {

/// Without a seed no weights are drawn, which suffices for names and shapes.
inline std::unique_ptr<Model> convnet(const std::string& kind, const Options& options,
                                      const Shape& picture, std::int64_t classes,
                                      std::optional<std::int64_t> seed = {}) {
    return made_model(kind, options, pictures(picture, classes), seed);
}

inline Tensor parameter(const Model& model, const std::string& name) {
    for (const Parameter& each : model.parameters())
        if (each.name == name) return each.tensor;
    return {};
}

/// Pictures (n, C, H, W) with different pixels.
inline Tensor made_pictures(const Shape& shape) {
    std::vector<double> values(static_cast<std::size_t>(shape.numel()));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<double>((i * 2654435761u) % 1009) / 1009 - 0.5;
    return Tensor::of(values, shape, DType::f32, Device{});
}

/// The logits, all gradients and the buffers after one step of a batch of two.
inline std::vector<std::vector<double>> step_of_two(Model& model, const Shape& picture) {
    const Tensor images = made_pictures({2, picture[0], picture[1], picture[2]});
    const Tensor logits = model.forward({images}).front();
    std::vector<std::vector<double>> out{logits.values()};
    backward(cross_entropy(logits, Tensor::of({1, 3}, {2}, DType::i64, Device{})));
    for (const Parameter& each : model.parameters()) out.push_back(each.tensor.grad().values());
    for (const Parameter& each : model.buffers()) out.push_back(each.tensor.values());
    return out;
}

/// The attribute of the first node whose name begins with this; empty if there is none.
inline std::vector<std::int64_t> sizes_of_node(Model& model, const std::string& begin,
                                               const std::string& attribute) {
    const ModelShape shape{{{.name = "image", .shape = {3, 32, 32}}}};
    const OnnxGraph graph = onnx_graph(model, shape, DType::f32);
    for (const OnnxGraph::Node& node : graph.nodes()) {
        const auto found = node.attributes.find(attribute);
        if (node.name.starts_with(begin) && found != node.attributes.end())
            return std::get<std::vector<std::int64_t>>(found->second);
    }
    return {};
}

}  // namespace engine::test
