#include "engine/settings/catalog.h"

#include <algorithm>

#include "engine/base/error.h"
#include "optim/optimizer_descriptor.h"

namespace engine {

#define HALFTONE_OPTIMIZER(name) OptimizerDescriptor name##_descriptor();
#include "optim/descriptors.inc"
#undef HALFTONE_OPTIMIZER

std::span<const OptimizerDescriptor> optimizer_descriptors() {
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

const OptimizerDescriptor& optimizer_descriptor(const std::string& kind) {
    const auto all = optimizer_descriptors();
    const auto found = std::find_if(
        all.begin(), all.end(), [&](const OptimizerDescriptor& one) { return one.kind == kind; });
    if (found != all.end()) return *found;
    throw Error(ErrorCode::settings, "optimizer.kind: there is no optimizer " + kind);
}

std::span<const OptimizerInfo> optimizers() {
    static const std::vector<OptimizerInfo> list = [] {
        std::vector<OptimizerInfo> infos;
        for (const OptimizerDescriptor& from : optimizer_descriptors())
            infos.push_back({from.kind, from.title, from.summary, from.options, from.check});
        return infos;
    }();
    return list;
}

}  // namespace engine
