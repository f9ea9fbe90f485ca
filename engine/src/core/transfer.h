#pragma once

#include <cstddef>

#include "core/device.h"

namespace engine {

/// Bytes between the host and a device's memory. Those to the host wait for all work before them,
/// and throw Error(value) if it refused a value (core/refusals.h).
void copy_from_host(void* to, const void* host, std::size_t bytes, const Device& device);
void copy_to_host(void* host, const void* from, std::size_t bytes, const Device& device);
/// To memory that is pinned for a GPU, which is not waited for: it is there when the device has
/// come so far.
void copy_to_pinned(void* pinned, const void* from, std::size_t bytes, const Device& device);
/// Within one device; waits for nothing.
void copy_bytes(void* to, const void* from, std::size_t bytes, const Device& device);
/// From one GPU to another; waits for nothing: the copy comes after all work before it on both, and
/// before all that follows on either.
void copy_between(void* to, const Device& to_device, const void* from, const Device& from_device,
                  std::size_t bytes);
void set_zero(void* to, std::size_t bytes, const Device& device);

}  // namespace engine
