#include "models/model.h"

#include <algorithm>

#include "engine/base/error.h"

namespace engine {
std::int64_t Model::parameter_count() const {
    std::int64_t count = 0;
    for (const auto& parameter : parameters()) count += parameter.tensor.numel();
    return count;
}

void freeze(Model& model, const std::vector<std::string>& prefixes) {
    if (prefixes.empty()) return;
    const auto& parameters = model.parameters();
    for (const std::string& prefix : prefixes) {
        const bool fits = std::ranges::any_of(
            parameters, [&](const Parameter& each) { return each.name.starts_with(prefix); });
        if (fits) continue;
        throw Error(ErrorCode::settings,
                    msg("model.freeze: {}: no parameter of the model has such a name", prefix),
                    msg("Its parameters are {}, ..., {}.", parameters.front().name,
                        parameters.back().name));
    }
    bool trains = false;
    for (const Parameter& parameter : parameters) {
        Tensor tensor = parameter.tensor;
        const bool frozen = std::ranges::any_of(prefixes, [&](const std::string& prefix) {
            return parameter.name.starts_with(prefix);
        });
        if (frozen) tensor.set_requires_grad(false);
        trains = trains || !frozen;
    }
    if (trains) return;
    throw Error(ErrorCode::settings, msg("model.freeze: no parameter is left to train"),
                msg("Leave the last layer out of the list."));
}

}  // namespace engine
