#pragma once

#include <functional>

#include "core/tape.h"

namespace engine {

using Segment = std::function<TensorList(const TensorList& inputs)>;

/// segment(inputs) without keeping what it makes inside: backward runs the segment again, under the
/// autocast state of the first run (1.7), and takes the gradients of that. Gradients of parameters
/// that the segment uses are added to them as usual. With gradient mode on the outputs always take
/// part in the graph. The segment must compute the same both times. First derivatives only:
/// Error(state) under create_graph.
TensorList checkpoint(const Segment& segment, const TensorList& inputs);

}  // namespace engine
