#pragma once

#include <functional>

#include "tensor/tape.h"

namespace engine {

using Segment = std::function<TensorList(const TensorList& inputs)>;

/// segment(inputs), without keeping its intermediate results. Backward runs the segment again,
/// under the autocast state of the first run (autocast.md#interplay, 1.7), and differentiates that.
/// Parameters used by the segment get their gradients as usual. With gradient mode on, the outputs
/// always join the graph. The segment must compute the same both times. First derivatives only:
/// Error(state) under create_graph.
TensorList checkpoint(const Segment& segment, const TensorList& inputs);

}  // namespace engine
