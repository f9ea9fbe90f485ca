#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/device_support.h"

namespace engine::test {

/// The settings with changes ("path=value"), which must be valid.
inline RunConfig changed(const RunConfig& config, const std::vector<std::string>& changes) {
    const ParsedConfig parsed = parse_run_config(to_json(config), changes);
    for (const auto& error : parsed.errors) ADD_FAILURE() << error.str();
    return parsed.config;
}

/// The first steps of a run on the CPU.
class TrainedSteps {
public:
    explicit TrainedSteps(const RunConfig& config) : run_(config, Device{}) {}

    StepRecord step() {
        CompletedStep step = run_.step(steps_++);
        if (step.refused) throw *step.refused;
        return step.row;
    }
    std::vector<StepRecord> steps(std::int64_t count) {
        std::vector<StepRecord> out;
        for (std::int64_t i = 0; i < count; ++i) out.push_back(step());
        return out;
    }
    Trainer& trainer() { return run_.trainer; }
    Tensor parameter(const std::string& name) {
        for (const Parameter& each : trainer().model().parameters()) {
            if (each.name == name) return each.tensor;
        }
        ADD_FAILURE() << "no parameter " << name;
        return {};
    }
    /// All weights, concatenated.
    std::vector<double> weights() {
        std::vector<double> out;
        for (const Parameter& each : trainer().model().parameters()) {
            const auto values = each.tensor.values();
            out.insert(out.end(), values.begin(), values.end());
        }
        return out;
    }

private:
    TrainerFixture run_;
    std::int64_t steps_ = 0;
};

}  // namespace engine::test
