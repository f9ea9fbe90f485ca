#pragma once

#include <cstddef>

#include "core/device.h"

namespace engine {

/// Bytes between the host and a device's memory. Those to the host wait for all work before them.
void copy_from_host(void* to, const void* host, std::size_t bytes, const Device& device);
void copy_to_host(void* host, const void* from, std::size_t bytes, const Device& device);
/// Within one device; waits for nothing.
void copy_bytes(void* to, const void* from, std::size_t bytes, const Device& device);
void set_zero(void* to, std::size_t bytes, const Device& device);

}  // namespace engine
