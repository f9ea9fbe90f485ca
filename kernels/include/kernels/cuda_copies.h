#pragma once

#include <cstddef>

#include "kernels/array.h"

namespace kernels::cuda {

/// Copies from one device's memory to another's, both numbered as for set_device(), on a stream of
/// the calling thread's device. Asynchronous, with or without peer access.
void copy_between_devices(void* to, int to_device, const void* from, int from_device,
                          std::size_t bytes, Stream stream);

/// Copies a few bytes of any host memory. They are read at once and passed as kernel arguments,
/// 3,840 a launch. So nothing waits, and a captured graph contains them.
void put_bytes(void* device, const void* host, std::size_t bytes, Stream stream);

}  // namespace kernels::cuda
