#include "train/run_needs.h"

#include <algorithm>
#include <bit>

#include "engine/error.h"
#include "kernels/device.h"
#include "models/model.h"

namespace engine {

std::string resolve_device(const std::string& setting) {
    if (setting == "auto" || setting == "cpu") return "cpu";
    throw Error(ErrorCode::device,
                msg("The device {} cannot be used: {}.", setting, kernels::cuda::why_absent()),
                msg("Set device to cpu or auto."));
}

// Counted on a model whose memory nobody touches.
void check_model_fits(const RunConfig& config, const SampleShape& sample, std::int64_t classes,
                      const Device& device) {
    const OptimizerConfig& o = config.optimizer;
    const std::int64_t states = o.kind == "adamw" ? 2 : o.momentum > 0 ? 1 : 0;
    const std::int64_t number = resolve(config.precision).weights == "fp16" ? 2 : 4;
    const auto memory = static_cast<std::int64_t>(memory_limit());
    const Message hint = msg("Make the layers smaller.");
    std::int64_t numbers = 0;
    try {
        numbers =
            make_model(config.model, sample, classes, std::nullopt, device)->parameter_count();
    } catch (const Error& error) {
        if (error.code() != ErrorCode::memory) throw;
        throw Error(ErrorCode::memory,
                    msg("The model's weights alone do not fit into the {} MiB of this machine.",
                        memory >> 20),
                    hint);
    }
    const std::int64_t needed = numbers * number * (2 + states);
    if (needed <= memory) return;
    throw Error(ErrorCode::memory,
                msg("The model has {} parameters, which need {} MiB with their gradients and the "
                    "optimizer's state; this machine has {} MiB.",
                    numbers, needed >> 20, memory >> 20),
                hint);
}

void check_batch_fits(const RunConfig& config, const SampleShape& sample) {
    const auto memory = static_cast<std::int64_t>(memory_limit());
    const auto bytes =
        config.batch_size * sample.elements() * static_cast<std::int64_t>(sizeof(float));
    const std::int64_t needed = 2 * bytes * (config.accumulate + 1);
    if (needed <= memory) return;
    throw Error(ErrorCode::memory,
                msg("A step on {} samples needs {} MiB at the least; this machine has {} MiB.",
                    config.batch_size * config.accumulate, needed >> 20, memory >> 20),
                msg("Try a smaller batch."));
}

// What a step holds beyond what stays between steps grows with the batch. The step did not come to
// its end, so twice that is set aside.
Message smaller_batch(const RunConfig& config, const MemoryBooks& books) {
    if (config.batch_size == 1) return msg("Try a smaller model.");
    const auto memory = static_cast<std::int64_t>(memory_limit());
    const std::int64_t staying = books.total();
    const std::int64_t of_step = std::max<std::int64_t>(books.peak() - staying, 1);
    const double share = static_cast<double>(std::max<std::int64_t>(memory - staying, 0)) /
                         (2.0 * static_cast<double>(of_step));
    const double fitting = static_cast<double>(config.batch_size) * std::min(share, 0.5);
    const auto size = std::bit_floor(static_cast<std::uint64_t>(std::max(fitting, 1.0)));
    return msg("Try batch_size {}; accumulate makes up for the smaller batch.", size);
}

}  // namespace engine
