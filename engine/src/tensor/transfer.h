#pragma once

#include <cstddef>

#include "tensor/device.h"
#include "tensor/tensor.h"

namespace engine {

/// Copies bytes between the host and a device. Copies to the host wait for all earlier work, and
/// throw Error(value) for a deferred device error (tensor/deferred_errors.h).
void copy_from_host(void* to, const void* host, std::size_t bytes, const Device& device);
void copy_to_host(void* host, const void* from, std::size_t bytes, const Device& device);
/// Copies within one device, without waiting.
void copy_bytes(void* to, const void* from, std::size_t bytes, const Device& device);
/// Copies from one GPU to another without waiting. The copy is ordered after all earlier work on
/// both, and before all later work on either.
void copy_between(void* to, const Device& to_device, const void* from, const Device& from_device,
                  std::size_t bytes);
void set_zero(void* to, std::size_t bytes, const Device& device);

// Copies numbers that follow from shapes and options alone from the host to a device. A step that
// is captured as a graph keeps the present values.

/// Taken at once; nothing waits.
void put_constant(void* to, const void* host, std::size_t bytes, const Device& device);

/// `host`, a contiguous tensor of the host, on `device`. Throws Error(state) for any other.
Tensor constant_on(const Device& device, const Tensor& host);

/// 0, 1, 2, ... in row-major order, i64, on `device`.
Tensor counting(const Shape& shape, const Device& device);

}  // namespace engine
