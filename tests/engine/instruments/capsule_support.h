#pragma once

#include "support/device_support.h"
#include "train/run/step_capsule.h"

namespace engine::test {

/// The capsule of step `before` + 1 of a run with these settings.
inline StepCapsule capsule_after(const RunConfig& config, std::int64_t before) {
    TrainerFixture fixture(config, default_device());
    for (std::int64_t step = 0; step < before; ++step) (void)fixture.step(step);
    StepCapsule out{.config = config,
                    .data = fixture.data.data->schema(),
                    .before = fixture.trainer.saved_state(),
                    .batches = {},
                    .planned = 100,
                    .rate_multiplier = 1};
    for (std::int64_t i = 0; i < config.accumulate; ++i)
        fixture.collator.make(out.batches.emplace_back(), 0, before * config.accumulate + i);
    return out;
}

/// Sets element `index` of a tensor on the host.
inline void plant(const Tensor& tensor, std::int64_t index, float value) {
    tensor.data_as<float>()[index] = value;
}

}  // namespace engine::test
