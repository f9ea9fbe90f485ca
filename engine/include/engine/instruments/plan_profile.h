#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "engine/instruments/xray.h"
#include "engine/settings/run_config.h"

namespace engine {

/// Operations of one step that compute the same thing by the same algorithm.
struct PlanRow {
    std::string op;  ///< as in an X-ray
    XrayPass pass = XrayPass::forward;
    std::string compute_dtype;
    std::vector<XrayTensor> inputs, outputs;
    std::string engine;     ///< XrayOp::engine
    std::int64_t runs = 0;  ///< a step
    double us = 0;          ///< of all runs
    double flops = 0;       ///< of all runs
    /// FLOP/s as a share of the largest that a product reached here in this type; NaN: unknown.
    double peak_share = std::numeric_limits<double>::quiet_NaN();
    /// Time the step would save if they ran at that speed.
    double lost_us = 0;
};

/// Where a training step's arithmetic falls short of the device's peak.
struct PlanProfile {
    std::string device;
    double step_ms = 0;                   ///< of the profiled step, which runs eagerly
    std::map<std::string, double> peaks;  ///< Xray::peaks
    std::vector<PlanRow> rows;            ///< the largest lost_us first
};

/// Products, convolutions, attention and recurrent networks of a step of these settings on random
/// data. The least time of each operation over several steps counts. On a GPU the host is ahead of
/// the device, so that short operations are not timed with its pauses in them. Throws Error.
PlanProfile profile_plans(const RunConfig& config);

/// Makes the profile from the traces of several steps.
PlanProfile make_profile(const std::vector<std::vector<XrayOp>>& steps,
                         const std::map<std::string, double>& peaks);

/// A table of the ten worst for a terminal.
std::string text_of(const PlanProfile& profile);
/// One JSON object, with all of them.
std::string to_json(const PlanProfile& profile);

}  // namespace engine
