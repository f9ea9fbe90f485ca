#pragma once

#include "models/onnx_trace.h"

/// Nodes (opset 17) of operations that take several to write. `in`: values of call.inputs.
namespace engine::onnx_nodes {

using Sizes = std::vector<std::int64_t>;

/// Throws Error(settings): the operation is in the table, but not with these arguments.
[[noreturn]] void refuse_form(const TracedCall& call);

OnnxValue convolution(OnnxTrace& to, const TracedCall& call, const OnnxValues& in);
OnnxValue conv_transpose(OnnxTrace& to, const TracedCall& call, const OnnxValues& in);
OnnxValue pool(OnnxTrace& to, const TracedCall& call, const OnnxValues& in);
OnnxValue adaptive_pool(OnnxTrace& to, const TracedCall& call, const OnnxValues& in);
OnnxValue upsample(OnnxTrace& to, const TracedCall& call, const OnnxValues& in);
/// A state that is "" begins with zeros.
OnnxValues recurrent(OnnxTrace& to, const TracedCall& call, const OnnxValues& in);

}  // namespace engine::onnx_nodes
