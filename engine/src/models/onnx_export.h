#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "models/model_descriptor.h"

namespace engine {

/// The model in evaluation mode as an ONNX graph. Inputs: those of `shape` under their fields'
/// names, normalised as the model is given them, with a first dimension of any size, then
/// `state_0`, ... of carried state. Outputs: `output`, then `next_state_0`, ... `dtype`, f32 or
/// f16, is that of weights, floating inputs and outputs. Throws Error(settings) for a model without
/// a graph, and Error(data) for weights that fp16 cannot hold.
OnnxGraph onnx_graph(const Model& model, const ModelShape& shape, ModelOutput output, DType dtype);

/// Writes it to a file with these properties. Throws Error(io) too.
void write_onnx(const std::filesystem::path& file, const OnnxGraph& graph,
                const std::map<std::string, std::string>& metadata);

}  // namespace engine
