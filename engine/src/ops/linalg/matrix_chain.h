#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo chain_matmul_info, linalg_multi_dot_info;

// The product of all matrices in the order of multiplication that costs least; each single product
// sums in f32 (f64 for f64) and is stored in the type of the run, as PyTorch does. Policy low.

/// One or more matrices.
Tensor chain_matmul(const TensorList& matrices);
/// Two or more; the first and the last may be vectors, a row and a column, whose dimension the
/// result then lacks.
Tensor linalg_multi_dot(const TensorList& tensors);

}  // namespace engine
