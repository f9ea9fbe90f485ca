#pragma once

#include <vector>

#include "core/tensor.h"
#include "kernels/multi_tensor_update.h"

namespace engine {

/// Adds the rows of a row-major weight that its gradient names to `tensors`, neighbours together.
/// `all` is the weight with its state, and all.grad the values of `grad`, which is coalesced
/// (index/sparse.h). Waits for the device: the host must know the places.
void add_rows(const kernels::UpdateTensor& all, const Tensor& grad,
              std::vector<kernels::UpdateTensor>& tensors);

}  // namespace engine
