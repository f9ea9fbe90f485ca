#pragma once

#include <memory>

#include "parallel/communicator.h"
#include "tensor/device.h"

namespace engine {

/// `host` with on_device(), for ranks that compute on GPUs. All ranks call it together, each with a
/// device of its own. All lines made from it share one DeviceRanks. Throws DeviceError.
std::shared_ptr<Communicator> make_gpu_communicator(std::shared_ptr<Communicator> host,
                                                    const Device& device);

}  // namespace engine
