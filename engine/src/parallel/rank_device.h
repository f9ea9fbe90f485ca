#pragma once

#include <string>

#include "parallel/communicator.h"
#include "tensor/device.h"

namespace engine {

/// The device of this rank for the setting `device`. All ranks call it; null `ranks` is one process
/// (resolve_device).
///
/// - "cuda": the GPUs of a machine are given to its ranks in order, one each. Throws Error(device)
///   if a rank lacks a GPU, one of its libraries or NCCL.
/// - "auto": the same if every rank can use a GPU; else the CPU for all.
/// - "cuda:N" is refused.
Device device_of_rank(const std::string& setting, Communicator* ranks);

}  // namespace engine
