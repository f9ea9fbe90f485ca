#pragma once

#include <optional>

#include "engine/base/message.h"
#include "engine/settings/run_config.h"
#include "engine/train/machine.h"
#include "tasks/task.h"
#include "tensor/device.h"
#include "tensor/memory/memory.h"

namespace engine {

class Communicator;

/// Checks what a run needs of the machine, before the run is there.

/// Throws Error(memory) if the model's weights, gradients, buffers and optimizer state are more than
/// the device's memory, before minutes go into drawing weights that cannot be trained.
void check_model_fits(const RunConfig& config, const ModelShape& shape, const Device& device);

/// Throws Error(memory) if batches of that schema in host and device memory, and a step that takes
/// as much again at the least, are more than the device's memory.
void check_batch_fits(const RunConfig& config, const Schema& schema, const Device& device);

/// The device of a run, or of its rank: see device_of_rank(). Throws Error(device) for tf32 on a
/// device without it, and for bf16 on a card whose libraries lack it.
Device checked_device(const RunConfig& config, Communicator* ranks = nullptr);

/// Throws Error(settings) for a schedule or a stop that waits for a better evaluation if the task
/// does not define which is better.
void check_best_is_there(const RunConfig& config, const Task& task);

/// Advice after a step has run out of memory: a batch size of at most half of the present one.
Message smaller_batch(const RunConfig& config, const MemoryAccounting& accounting,
                      const Device& device);

/// The generation of a compute capability; the newest known for a later one, the oldest for an
/// earlier one.
const GpuGeneration& gpu_generation(int major, int minor);

/// Whether each precision pays on a card of that generation.
std::vector<MachineReport::Pay> payoffs(const GpuGeneration& generation);

/// Why a card cannot train in a precision, and what the user can do.
struct PrecisionLack {
    Message what, hint;
};
/// Nothing if cards of that generation can.
std::optional<PrecisionLack> find_lack(const GpuGeneration& generation,
                                       const ResolvedPrecision& precision);

/// Throws Error(settings) if the workers of `config` differ from the number of ranks. Null `ranks`
/// is one process.
void check_workers(const RunConfig& config, const Communicator* ranks);

}  // namespace engine
