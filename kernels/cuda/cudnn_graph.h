#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "cuda/attention_graph.h"
#include "cuda/conv2d_graph.h"

/// Questions about cuDNN's graphs that tests ask without a device.
namespace kernels::cuda {

/// A device that need not be there.
struct DescribedDevice {
    std::string properties;      ///< cuDNN's JSON form of them; empty: no plan is made
    int compute_capability = 0;  ///< 90 is 9.0
    std::int64_t max_workspace = std::numeric_limits<std::int64_t>::max();
    bool for_race = false;  ///< makes the plans of a race too
};

struct GraphExamination {
    std::string problem;  ///< the first complaint; empty: the graph is good, and has an engine
    std::string engine;   ///< of the plan, in cuDNN's words; of convolutions
    std::int64_t workspace_bytes = 0;
    std::vector<std::string> engines;  ///< with for_race: that take part in it
};

/// Builds the graph, and the plan that `device` would run, without running it. The kernels of
/// attention are compiled and loaded with the plan, so for it only the engines are queried, which
/// cuDNN supports only if a libcuda.so.1 exists, even the toolkit's stub. Throws DeviceError if
/// cuDNN is missing.
GraphExamination examine(const ConvGraph& graph, const DescribedDevice& device);
GraphExamination examine(const AttentionGraph& graph, const DescribedDevice& device);

}  // namespace kernels::cuda
