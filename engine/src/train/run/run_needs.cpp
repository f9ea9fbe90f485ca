#include "train/run/run_needs.h"

#include <algorithm>
#include <bit>

#include "engine/base/error.h"
#include "engine/train/session_options.h"
#include "kernels/cuda_device.h"
#include "models/model.h"
#include "tensor/resolve_device.h"
#include "train/run/gpu_generations.h"
#include "train/step/make_optimizer.h"

namespace engine {

namespace {

std::int64_t memory_bytes(const Device& device) {
    return static_cast<std::int64_t>(memory_limit(device));
}

}  // namespace

// Counted on a model whose memory nobody touches.
void check_model_fits(const RunConfig& config, const ModelShape& shape, const Device& device) {
    const ResolvedPrecision precision = resolve(config.precision);
    const std::int64_t number = precision.weights == WeightFormat::fp16 ? 2 : 4;
    // Beside weight and gradient.
    const std::int64_t more =
        (precision.master_weights ? 4 : 0) + optimizer_state_bytes(config.optimizer, precision);
    const std::int64_t memory = memory_bytes(device);
    const Message hint = msg("Make the layers smaller.");
    std::int64_t numbers = 0;
    try {
        numbers = make_model(config.model, shape, std::nullopt, Device{})->parameter_count();
    } catch (const Error& error) {
        if (error.code() != ErrorCode::memory) throw;
        throw Error(ErrorCode::memory,
                    msg("The model's weights alone do not fit into the {} MiB of this machine.",
                        memory >> 20),
                    hint);
    }
    const std::int64_t needed = numbers * (2 * number + more);
    if (needed <= memory) return;
    throw Error(ErrorCode::memory,
                msg("The model has {} parameters, which need {} MiB with their gradients and the "
                    "optimizer's state; this machine has {} MiB.",
                    numbers, needed >> 20, memory >> 20),
                hint);
}

void check_batch_fits(const RunConfig& config, const Schema& schema, const Device& device) {
    const std::int64_t memory = memory_bytes(device);
    std::int64_t bytes = 0;
    for (const FieldSpec& field : schema.fields)
        bytes += config.batch_size * static_cast<std::int64_t>(field.sample_bytes());
    const std::int64_t needed = 2 * bytes * (config.accumulate + 1);
    if (needed <= memory) return;
    throw Error(ErrorCode::memory,
                msg("A step on {} samples needs {} MiB at the least; this machine has {} MiB.",
                    config.batch_size * config.accumulate, needed >> 20, memory >> 20),
                msg("Try a smaller batch."));
}

void check_precision_is_there(const RunConfig& config, const Device& device) {
    const ResolvedPrecision precision = resolve(config.precision);
    if (device.kind == Device::Kind::cuda) {
        const auto card = kernels::cuda::device_info(device.index);
        if (const auto lack = lack_of(gpu_generation(card.major, card.minor), precision))
            throw Error(ErrorCode::device, lack->what, lack->hint);
    } else if (precision.tf32) {
        throw Error(ErrorCode::device, msg("TF32 needs an NVIDIA Ampere or newer GPU."),
                    msg("Set the precision to fp32, amp-fp16 or amp-bf16."));
    }
}

void check_best_is_there(const RunConfig& config, const Task& task) {
    const bool waits = config.schedule.kind == "plateau" || config.early_stopping.patience > 0;
    if (!waits || task.has_best()) return;
    throw Error(ErrorCode::settings,
                msg("An adversarial pair has no best evaluation, so plateau and early stopping "
                    "cannot work."),
                msg("Use another schedule than plateau, and no early stopping."));
}

void check_device(const RunConfig& config) {
    check_precision_is_there(config, resolve_device(config.device));
}

// Memory that a step needs beyond what stays between steps grows with the batch. The step failed
// before its end, so twice that is assumed.
Message smaller_batch(const RunConfig& config, const MemoryAccounting& accounting,
                      const Device& device) {
    if (config.batch_size == 1) return msg("Try a smaller model.");
    const std::int64_t memory = memory_bytes(device);
    // Other runs' memory too is there no more.
    const std::int64_t staying =
        std::max(accounting.total(), static_cast<std::int64_t>(memory_in_use(device)));
    const std::int64_t of_step = std::max<std::int64_t>(accounting.peak() - accounting.total(), 1);
    const double share = static_cast<double>(std::max<std::int64_t>(memory - staying, 0)) /
                         (2.0 * static_cast<double>(of_step));
    const double fitting = static_cast<double>(config.batch_size) * std::min(share, 0.5);
    const auto size = std::bit_floor(static_cast<std::uint64_t>(std::max(fitting, 1.0)));
    return msg("Try batch_size {}; accumulate makes up for the smaller batch.", size);
}

}  // namespace engine
