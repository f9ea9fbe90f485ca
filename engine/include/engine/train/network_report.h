#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/models/network_types.h"
#include "engine/train/step_memory.h"

namespace engine {

/// A checked text of a network with what is predicted for these settings. Of a text with a fault
/// nothing is, and all sizes are 0.
struct NetworkReport {
    CheckedNetwork network{};
    std::vector<PredictedType> operations{};
    std::vector<std::string> types{};  ///< of each row
    StepMemory memory{};               ///< `saved` has all rows
    std::int64_t batch_size = 0;
};

/// Throws Error(settings) if precision.force names an unknown module or operation.
NetworkReport report_network(std::string_view text, const NetworkData& data, const RunConfig& config);

/// The report as one JSON object: faults, layers with shapes, types and costs, parameters and
/// state_dict. `file` is the text's name.
std::string network_to_json(const NetworkReport& report, const std::string& file);

}  // namespace engine
