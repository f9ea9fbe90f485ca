#pragma once

#include "models/onnx_trace.h"

/// Nodes (opset 17) of operations that take several to write. `in`: values of call.inputs.
namespace engine::onnx_nodes {

using Sizes = std::vector<std::int64_t>;

/// Throws Error(settings): the operation is in the table, but not with these arguments.
[[noreturn]] void refuse_form(const TracedCall& call);

/// x in f32, also in an fp16 graph; and back in the type of the graph.
OnnxValue widened(OnnxTrace& to, const OnnxValue& x);
OnnxValue narrowed(OnnxTrace& to, const OnnxValue& x);
/// A weight for each channel as it is multiplied with x (N, C, ...).
OnnxValue beside_channels(OnnxTrace& to, const OnnxValue& weight, const Tensor& x);

OnnxValue convolution(OnnxTrace& to, const TracedCall& call, const OnnxValues& in);
OnnxValue conv_transpose(OnnxTrace& to, const TracedCall& call, const OnnxValues& in);
OnnxValue pool(OnnxTrace& to, const TracedCall& call, const OnnxValues& in);
OnnxValue adaptive_pool(OnnxTrace& to, const TracedCall& call, const OnnxValues& in);
OnnxValue upsample(OnnxTrace& to, const TracedCall& call, const OnnxValues& in);
OnnxValue batch_norm(OnnxTrace& to, const TracedCall& call, const OnnxValues& in);
OnnxValue layer_norm(OnnxTrace& to, const TracedCall& call, const OnnxValues& in);
OnnxValue instance_norm(OnnxTrace& to, const TracedCall& call, const OnnxValues& in);
/// Groups as the channels of an instance norm.
OnnxValue group_norm(OnnxTrace& to, const TracedCall& call, const OnnxValues& in);
OnnxValue rms_norm(OnnxTrace& to, const TracedCall& call, const OnnxValues& in);
OnnxValue normalize(OnnxTrace& to, const TracedCall& call, const OnnxValues& in);
OnnxValue cosine_similarity(OnnxTrace& to, const TracedCall& call, const OnnxValues& in);
/// A state that is "" begins with zeros.
OnnxValues recurrent(OnnxTrace& to, const TracedCall& call, const OnnxValues& in);

}  // namespace engine::onnx_nodes
