#include "train/make_optimizer.h"

#include "optim/optimizer_descriptor.h"
#include "optim/schedule_descriptor.h"

namespace engine {

std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config,
                                          std::vector<Parameter> parameters,
                                          OptimizerOptions options) {
    const OptimizerDescriptor& kind = optimizer_descriptor(config.kind);
    const TypedOptions given(config.options, kind.options);
    options.larc.on = given.flag("larc");
    options.larc.trust = given.number("larc_trust");
    options.larc.clip = given.flag("larc_clip");
    return kind.make(given, std::move(parameters), options);
}

std::int64_t optimizer_state_bytes(const OptimizerConfig& config,
                                   const ResolvedPrecision& precision) {
    const OptimizerDescriptor& kind = optimizer_descriptor(config.kind);
    const bool low =
        kind.low_state && precision.weights == WeightFormat::fp16 && !precision.master_weights;
    const std::int64_t bytes = low ? 2 : 4;
    return kind.states(TypedOptions(config.options, kind.options)) * bytes;
}

kernels::LearningRateSchedule schedule_of(const RunConfig& config, std::int64_t planned) {
    const TypedOptions optimizer(config.optimizer.options,
                                 optimizer_descriptor(config.optimizer.kind).options);
    const ScheduleDescriptor& kind = schedule_descriptor(config.schedule.kind);
    const TypedOptions options(config.schedule.options, kind.options);
    kernels::LearningRateSchedule schedule = kind.make(options, optimizer.number("lr"), planned);
    schedule.warmup = options.whole("warmup_steps");
    return schedule;
}

}  // namespace engine
