#pragma once

#include <cstddef>

#include "kernels/array.h"

namespace kernels::cuda {

/// From memory of one device to another's, both numbered as for set_device(), on a stream of the
/// calling thread's device. Asynchronous, whether or not one can reach the other's memory.
void copy_between_devices(void* to, int to_device, const void* from, int from_device,
                          std::size_t bytes, Stream stream);

/// A few bytes of any host memory, taken at once: they travel as arguments of kernels, 3,840 a
/// launch. So nothing waits, and a graph that is recorded holds them.
void put_bytes(void* device, const void* host, std::size_t bytes, Stream stream);

}  // namespace kernels::cuda
