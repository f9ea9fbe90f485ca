#include "models/onnx_export.h"

#include "engine/base/error.h"
#include "models/detection_model.h"
#include "models/onnx_trace.h"

namespace engine {
namespace {

/// Pass 1 or 2 with its sizes of batch and window. A long window is shortened, because a table of
/// positions may hold no more.
Shape sized(const FieldSpec& field, int pass) {
    Shape shape{1 + pass};
    for (const std::int64_t size : field.shape) shape.push_back(size);
    if (field.kind == FieldKind::tokens) shape[1] += shape[1] > 2 ? -pass : pass - 1;
    return shape;
}

/// The forward pass of zeros. Returns what it asked for.
OnnxTrace::Requests trace(Model& model, const ModelShape& shape, int pass,
                          const OnnxTrace::Requests* first, OnnxGraph& graph) {
    OnnxTrace trace(graph, model, first);
    TensorList inputs;
    const auto add = [&](const std::string& name, const Shape& sizes, DType dtype) {
        inputs.push_back(Tensor::zeros(sizes, dtype, Device{}));
        trace.add_input(name, inputs.back());
    };
    for (const FieldSpec& field : shape.inputs) add(field.name, sized(field, pass), field.dtype);
    for (const Shape& state : model.state_shapes(1 + pass))
        add("state_" + std::to_string(inputs.size() - shape.inputs.size()), state, DType::f32);
    const TensorList outputs = model.forward(inputs);
    trace.add_output("output", outputs.at(0));
    for (std::size_t i = 1; i < outputs.size(); ++i)
        trace.add_output("next_state_" + std::to_string(i - 1), outputs[i]);
    return trace.requests();
}

}  // namespace

OnnxGraph onnx_graph(Model& model, const ModelShape& shape, DType dtype) {
    if (dynamic_cast<const DetectionModel*>(&model) != nullptr)
        throw Error(ErrorCode::settings, msg("Detectors cannot be written as ONNX yet."),
                    msg("Export the weights as safetensors."));
    const InferenceMode inference;
    model.training = false;
    OnnxGraph graph(dtype), other(dtype);
    const OnnxTrace::Requests first = trace(model, shape, 1, nullptr, other);
    trace(model, shape, 2, &first, graph);
    return graph;
}

}  // namespace engine
