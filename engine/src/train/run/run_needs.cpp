#include "train/run/run_needs.h"

#include <algorithm>
#include <bit>

#include "engine/base/error.h"
#include "engine/settings/catalog.h"
#include "engine/train/session_options.h"
#include "kernels/cuda_device.h"
#include "models/model.h"
#include "models/network_model.h"
#include "optim/optimizer_descriptor.h"
#include "parallel/rank_device.h"
#include "train/step/make_optimizer.h"

namespace engine {
namespace {

std::int64_t memory_bytes(const Device& device) {
    return static_cast<std::int64_t>(memory_limit(device));
}

bool uses_bf16(const ResolvedPrecision& precision) {
    return precision.autocast == AutocastFormat::bf16 ||
           std::ranges::any_of(precision.force, [](const auto& forced) {
               return forced.second == ForcedType::bf16;
           });
}

}  // namespace

// Counted on a model whose memory nobody touches, or on the graph of a text.
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
        numbers = count_parameters(config.model, shape);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::memory) throw;
        throw Error(ErrorCode::memory,
                    msg("The model's weights alone do not fit into the {} MiB of this machine.",
                        memory >> 20),
                    hint);
    }
    const std::int64_t each = 2 * number + more;
    const double needed = static_cast<double>(numbers) * static_cast<double>(each) +
                          4 * count_fixed_numbers(config.model, shape);
    if (needed <= static_cast<double>(memory)) return;
    throw Error(ErrorCode::memory,
                msg("The model has {} parameters, which need {} MiB with their gradients and the "
                    "optimizer's state; this machine has {} MiB.",
                    numbers, static_cast<std::int64_t>(needed / (1 << 20)), memory >> 20),
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

Device checked_device(const RunConfig& config, Communicator* ranks) {
    const Device device = device_of_rank(config.device, ranks);
    const ResolvedPrecision precision = resolve(config.precision);
    if (device.kind == Device::Kind::cuda) {
        const auto card = kernels::cuda::device_info(device.index);
        if (const auto lack = find_lack(gpu_generation(card.major, card.minor), precision))
            throw Error(ErrorCode::device, lack->what, lack->hint);
    } else if (precision.tf32) {
        throw Error(ErrorCode::device, msg("TF32 needs an NVIDIA Ampere or newer GPU."),
                    msg("Set the precision to fp32, amp-fp16 or amp-bf16."));
    }
    return device;
}

void check_best_is_there(const RunConfig& config, const Task& task) {
    const bool waits = schedule_descriptor(config.schedule.kind).follows_metric ||
                       config.early_stopping.patience > 0;
    if (!waits || task.has_best()) return;
    throw Error(ErrorCode::settings,
                msg("An adversarial pair has no best evaluation, so plateau and early stopping "
                    "cannot work."),
                msg("Use another schedule than plateau, and no early stopping."));
}

void check_device(const RunConfig& config) { checked_device(config); }

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

// From NVIDIA's CUDA programming guide (compute capabilities) and the architectures' white papers.
const std::vector<GpuGeneration>& gpu_generations() {
    static const std::vector<GpuGeneration> all = {
        {"Pascal", "P100, GTX 10", 6, 0, false, false, false, false,
         msg("No Tensor Cores: fp16 saves only memory. CUDA 13 does not support this GPU any "
             "more.")},
        {"Volta", "V100, Titan V", 7, 0, false, true, false, false,
         msg("The first Tensor Cores, for fp16 only. CUDA 13 does not support this GPU any more.")},
        {"Turing", "T4, RTX 20, GTX 16", 7, 5, true, true, false, false,
         msg("Tensor Cores for fp16, so AMP FP16 pays off. bf16 is rejected: no library supports "
             "it here. GTX 16 cards have no Tensor Cores.")},
        {"Ampere", "A100, A30, RTX 30", 8, 0, true, true, true, true,
         msg("Tensor Cores for fp16, bf16 and TF32.")},
        {"Ada", "L4, L40, RTX 40", 8, 9, true, true, true, true,
         msg("Tensor Cores for fp16, bf16 and TF32. GeForce cards sum fp16 products in fp32 at "
             "half the rate.")},
        {"Hopper", "H100, H200", 9, 0, true, true, true, true,
         msg("Tensor Cores for fp16, bf16 and TF32, about twice the rate of Ampere.")},
        {"Blackwell", "B200, RTX 50", 10, 0, true, true, true, true,
         msg("Tensor Cores for fp16, bf16 and TF32. A program without code for it has its kernels "
             "compiled by the driver at the first start.")},
    };
    return all;
}

const GpuGeneration& gpu_generation(int major, int minor) {
    const GpuGeneration* found = &gpu_generations().front();
    for (const auto& generation : gpu_generations()) {
        const bool reached = major > generation.major ||
                             (major == generation.major && minor >= generation.min_minor);
        if (reached) found = &generation;
    }
    return *found;
}

std::optional<PrecisionLack> find_lack(const GpuGeneration& generation,
                                       const ResolvedPrecision& precision) {
    if (precision.has_recipe())
        return PrecisionLack{msg("Recipes in 8 and 4 bits are computed on a CPU."),
                             msg("Set device to cpu.")};
    const Message hint = msg("Set the precision to fp32 or amp-fp16.");
    if (precision.tf32 && !generation.tf32)
        return PrecisionLack{msg("TF32 needs an NVIDIA Ampere or newer GPU."), hint};
    if (uses_bf16(precision) && !generation.bf16)
        return PrecisionLack{msg("BF16 needs an NVIDIA Ampere or newer GPU: on a {} card it would "
                                 "be computed in plain loops, which take seconds a step.",
                                 generation.name),
                             hint};
    return std::nullopt;
}

std::vector<MachineReport::Pay> payoffs(const GpuGeneration& generation) {
    const Message saves =
        msg("{}: Tensor Cores multiply it at a multiple of the fp32 rate.", generation.name);
    const Message none = msg("{}: no Tensor Cores for it, so no time is saved.", generation.name);
    std::vector<MachineReport::Pay> out;
    for (const PrecisionDescriptor& each : precisions()) {
        const bool pays = each.settings.tf32         ? generation.tf32
                          : uses_bf16(each.settings) ? generation.bf16
                                                     : generation.fp16;
        if (each.on_gpu.empty())
            out.push_back({each.kind, pays, pays ? saves : none});
        else
            out.push_back({each.kind, each.kind == baseline_precision(), each.on_gpu});
    }
    return out;
}

void check_workers(const RunConfig& config, const Communicator* ranks) {
    const std::int64_t here = ranks ? ranks->size() : 1;
    if (config.workers == here) return;
    throw Error(ErrorCode::settings,
                msg("workers: {}: this run has {} processes.", config.workers, here),
                msg("Start it with halftone train, which starts the workers, or with mpirun."));
}

}  // namespace engine
