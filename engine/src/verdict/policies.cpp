#include "engine/verdict/what_if.h"

#include "engine/settings/catalog.h"

namespace engine {
namespace {

ScalePolicy constant(std::string name, double scale) {
    ScalerConfig scaler;
    scaler.init_scale = scale;
    return {std::move(name), ScalerMode::constant, scaler};
}

}  // namespace

ScalePolicy policy_of(const RunConfig& config, std::string name) {
    return {std::move(name), resolve(config.precision).scaler, config.scaler};
}

std::vector<ScalePolicy> usual_policies() {
    std::vector<ScalePolicy> out;
    for (const auto& info : scaler_presets())
        out.push_back({info.preset, ScalerMode::dynamic, info.settings});
    ScalerConfig patient;
    patient.hysteresis = 2;
    out.push_back({"hysteresis-2", ScalerMode::dynamic, patient});
    ScalerConfig high;
    high.init_scale = 0x1p24;
    out.push_back({"init-2^24", ScalerMode::dynamic, high});
    out.push_back(constant("static-1024", 1024));
    out.push_back(constant("static-65536", 65536));
    out.push_back({"none", ScalerMode::off, {}});
    return out;
}

const char* name(ReplayedStep step) noexcept {
    switch (step) {
        case ReplayedStep::applied:
            return "applied";
        case ReplayedStep::skipped:
            return "skipped";
        case ReplayedStep::unknown_applied:
            return "unknown_applied";
        case ReplayedStep::unknown_skipped:
            return "unknown_skipped";
        case ReplayedStep::broken:
            return "broken";
    }
    return "";
}

}  // namespace engine
