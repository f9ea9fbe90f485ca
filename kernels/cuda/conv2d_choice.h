#pragma once

#include <optional>
#include <string>

#include "cuda/conv2d_graph.h"

/// The choice of a convolution's engine by measurement.
namespace kernels::cuda {

/// The engine that was chosen for the graph, which names none: in this run, or in an earlier one on
/// this machine. Empty: the library's first choice. Nothing: choose_convolution() has to.
std::optional<std::string> convolution_choice(const ConvGraph& graph);

/// Chooses it by a race with these operands. What the graph writes is written by each engine, and
/// has to be written once more. Not for a recording.
void choose_convolution(const ConvGraph& graph, const ConvPointers& pointers, Stream stream);

}  // namespace kernels::cuda
