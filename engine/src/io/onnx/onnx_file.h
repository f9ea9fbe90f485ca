#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "io/onnx/onnx_graph.h"

namespace engine {

/// The graph as an ONNX model (https://onnx.ai/onnx/repo-docs/IR.html), with these properties
/// beside it. Throws Error(data) for more than the 2 GiB that the format can hold.
std::string onnx_model(const OnnxGraph& graph, const std::map<std::string, std::string>& metadata,
                       std::uint64_t most_bytes = std::numeric_limits<std::int32_t>::max());

}  // namespace engine
