#pragma once

#include "tensor/tensor.h"

namespace engine {

/// The contents of a sparse tensor (ops/index/sparse.h).
struct SparseParts {
    Tensor indices;          ///< (d, n) i64, row-major; -1: no place, its values are 0
    Tensor values;           ///< (n, sizes of the dimensions from d on), row-major
    bool coalesced = false;  ///< each place once at most, in row-major order
};

/// Throws Error(state) if x is dense.
const SparseParts& sparse_parts(const Tensor& x);

}  // namespace engine
