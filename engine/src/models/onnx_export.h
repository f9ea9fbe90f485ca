#pragma once

#include "io/onnx/onnx_graph.h"
#include "models/model.h"

namespace engine {

/// The model in evaluation mode, in which it stays, as an ONNX graph: a trace of its forward pass.
/// Inputs: those of `shape` under their fields' names, normalised as the model is given them, with
/// a first dimension of any size, then `state_0`, ... of carried state. Outputs: `output`, then
/// `next_state_0`, ... `dtype`, f32 or f16, is that of weights, floating inputs and outputs. Throws
/// Error(settings) for a model that cannot be written, and Error(data) for weights that fp16 cannot
/// hold.
OnnxGraph onnx_graph(Model& model, const ModelShape& shape, DType dtype);

}  // namespace engine
