#pragma once

#include <cstddef>

#include "tensor/tensor.h"

/// Copies numbers that follow from shapes and options alone from the host to a device. A step that
/// is captured as a graph keeps the present values.
namespace engine {

/// Taken at once; nothing waits.
void put_constant(void* to, const void* host, std::size_t bytes, const Device& device);

/// `host`, a contiguous tensor of the host, on `device`. Throws Error(state) for any other.
Tensor constant_on(const Device& device, const Tensor& host);

/// 0, 1, 2, ... in row-major order, i64, on `device`.
Tensor counting(const Shape& shape, const Device& device);

}  // namespace engine
