#include "network/network_memory.h"

#include <algorithm>
#include <optional>

#include "engine/base/error.h"

namespace ui {
namespace {

std::optional<engine::StepMemory> stepMemory(const std::string& text, const engine::NetworkData& data, const engine::RunConfig& config) {
    try {
        return engine::predict_step_memory(text, data, config);
    } catch (const engine::Error&) {
        return {};  // a type is forced on a module that the text does not have
    }
}

/// The largest batch whose step is within the limit.
std::int64_t fittingBatch(const std::string& text, const engine::NetworkData& data, engine::RunConfig config, double limit) {
    std::int64_t fits = 0, tooMany = config.batch_size;
    while (tooMany - fits > 1) {
        config.batch_size = fits + (tooMany - fits) / 2;
        const auto memory = stepMemory(text, data, config);
        (memory && memory->peak <= limit ? fits : tooMany) = config.batch_size;
    }
    return fits;
}

}  // namespace

double NetworkMemory::most() const {
    double most = 0;
    for (const Step& step : steps) most = std::max(most, step.memory.peak);
    return most;
}

NetworkMemory predictMemory(const std::string& text, const engine::CheckedNetwork& network, const engine::NetworkData& data,
                            const std::vector<engine::RunConfig>& steps, const engine::RunConfig& shown, double limit) {
    NetworkMemory out{shown.batch_size, limit, {}, {}};
    if (!network.usable()) return out;
    for (const engine::RunConfig& step : steps) {
        auto memory = stepMemory(text, data, step);
        if (!memory) continue;
        if (step.precision == shown.precision) out.saved = memory->saved;
        const bool large = limit > 0 && memory->peak > limit;
        out.steps.push_back({step.precision.preset, std::move(*memory), large ? fittingBatch(text, data, step, limit) : 0});
    }
    if (!out.saved.empty()) return out;
    if (const auto memory = stepMemory(text, data, shown)) out.saved = memory->saved;
    return out;
}

}  // namespace ui
