#include "engine/settings/catalog.h"

#include "engine/base/error.h"
#include "optim/optimizer_descriptor.h"

namespace engine {

#define HALFTONE_OPTIMIZER(name) OptimizerDescriptor name##_descriptor();
#include "optim/descriptors.inc"
#undef HALFTONE_OPTIMIZER

std::span<const OptimizerDescriptor> optimizers() {
    static const std::vector<OptimizerDescriptor> list = [] {
        std::vector<OptimizerDescriptor> all = {
#define HALFTONE_OPTIMIZER(name) name##_descriptor(),
#include "optim/descriptors.inc"
#undef HALFTONE_OPTIMIZER
        };
        for (OptimizerDescriptor& each : all) {
            for (OptionSpec& shared : larc_options()) each.options.push_back(std::move(shared));
        }
        return all;
    }();
    return list;
}

double learning_rate(const OptimizerConfig& config) {
    return TypedOptions(config.options, optimizer_descriptor(config.kind).options)
        .number(learning_rate_option().name);
}

const OptimizerDescriptor& optimizer_descriptor(const std::string& kind) {
    if (const OptimizerDescriptor* found = find_kind(optimizers(), kind)) return *found;
    throw Error(ErrorCode::settings, "optimizer.kind: there is no optimizer " + kind);
}

}  // namespace engine
