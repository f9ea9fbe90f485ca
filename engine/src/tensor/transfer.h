#pragma once

#include <cstddef>

#include "tensor/device.h"

namespace engine {

/// Copies bytes between the host and a device. Copies to the host wait for all earlier work, and
/// throw Error(value) for a deferred device error (tensor/deferred_errors.h).
void copy_from_host(void* to, const void* host, std::size_t bytes, const Device& device);
void copy_to_host(void* host, const void* from, std::size_t bytes, const Device& device);
/// Copies into host memory that is pinned for a GPU, without waiting: the bytes are there once the
/// device has reached the copy.
void copy_to_pinned(void* pinned, const void* from, std::size_t bytes, const Device& device);
/// Within one device; waits for nothing.
void copy_bytes(void* to, const void* from, std::size_t bytes, const Device& device);
/// Copies from one GPU to another without waiting. The copy is ordered after all earlier work on
/// both, and before all later work on either.
void copy_between(void* to, const Device& to_device, const void* from, const Device& from_device,
                  std::size_t bytes);
void set_zero(void* to, std::size_t bytes, const Device& device);

}  // namespace engine
