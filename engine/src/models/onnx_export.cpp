#include "models/onnx_export.h"

#include "engine/base/error.h"
#include "engine/io/named_file.h"
#include "io/onnx/onnx_graph.h"

namespace engine {
namespace {

OnnxValue declare(OnnxGraph& graph, const FieldSpec& field) {
    const bool window = field.kind == FieldKind::tokens;
    std::vector<OnnxDim> dims{window ? "streams" : "batch"};
    for (int i = 0; i < field.shape.rank(); ++i)
        dims.push_back(window && i == 0 ? OnnxDim("window") : OnnxDim(field.shape[i]));
    const DType dtype = is_floating(field.dtype) ? graph.dtype() : field.dtype;
    return graph.input(field.name, dtype, std::move(dims));
}

/// Dimensions of a state (layers, streams, width).
std::vector<OnnxDim> state_dims(const Shape& state) {
    return {state[0], std::string("streams"), state[2]};
}

std::vector<OnnxDim> output_dims(const ModelShape& shape, ModelOutput output) {
    if (output != ModelOutput::image && output != ModelOutput::generated)
        return {output == ModelOutput::scores || output == ModelOutput::click_scores ? "batch"
                                                                                     : "tokens",
                shape.outputs};
    std::vector<OnnxDim> dims{"batch"};
    for (const std::int64_t size : shape.output) dims.emplace_back(size);
    return dims;
}

std::string numbered(const char* name, std::size_t i) { return name + std::to_string(i); }

}  // namespace

OnnxGraph onnx_graph(const Model& model, const ModelShape& shape, ModelOutput output, DType dtype) {
    OnnxGraph graph(dtype);
    OnnxValues inputs;
    for (const FieldSpec& field : shape.inputs) inputs.push_back(declare(graph, field));
    const std::vector<Shape> states = model.state_shapes(1);
    for (std::size_t i = 0; i < states.size(); ++i)
        inputs.push_back(graph.input(numbered("state_", i), dtype, state_dims(states[i])));
    const OnnxValues outputs = model.export_graph(graph, inputs);
    graph.output("output", outputs.at(0), output_dims(shape, output));
    for (std::size_t i = 0; i < states.size(); ++i)
        graph.output(numbered("next_state_", i), outputs.at(i + 1), state_dims(states[i]));
    return graph;
}

void write_onnx(const std::filesystem::path& file, const OnnxGraph& graph,
                const std::map<std::string, std::string>& metadata) {
    write_named_file(file, onnx_model(graph, metadata));
}

}  // namespace engine
