#pragma once

#include <span>

#include "parallel/communicator.h"
#include "tensor/device.h"

// The communicator's calls for memory of the host or of the device that this rank computes on. On a
// GPU they wait for nothing, and are in order with the compute stream.
namespace engine {

void broadcast_over(Communicator& ranks, kernels::Array data, const Device& device);
void sum_over(Communicator& ranks, kernels::Array data, const Device& device);
void gather_over(Communicator& ranks, kernels::Array all, kernels::ConstArray part,
                 std::span<const std::int64_t> counts, const Device& device);

}  // namespace engine
