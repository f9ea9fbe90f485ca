#include "train/make_optimizer.h"

#include "optim/optimizer_descriptor.h"

namespace engine {

std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config,
                                          std::vector<Parameter> parameters,
                                          OptimizerOptions options) {
    options.larc.on = config.larc;
    options.larc.trust = config.larc_trust;
    options.larc.clip = config.larc_clip;
    return optimizer_descriptor(config.kind).make(config, std::move(parameters), options);
}

std::int64_t optimizer_state_bytes(const OptimizerConfig& config,
                                   const ResolvedPrecision& precision) {
    const OptimizerDescriptor& kind = optimizer_descriptor(config.kind);
    const bool low = kind.low_state && precision.weights == "fp16" && !precision.master_weights;
    const std::int64_t bytes = low ? 2 : 4;
    return kind.states(config) * bytes;
}

}  // namespace engine
