#pragma once

#include "tensor/tensor.h"

namespace engine {

// Sparse gradients, in coordinates: the value values[k, ...] is at indices[:, k], zeros elsewhere.
// Values of a repeated place add up. A sparse tensor has the shape, type and device of the dense
// one that it represents. Sums of gradients, the functions below and functions that say so accept
// it. Everything else reads its elements and throws Error(state).

/// indices (d, n), i64, on the CPU checked against `shape`; values (n, shape[d], ...). Throws
/// Error(shape), Error(dtype), Error(value).
Tensor sparse_tensor(const Tensor& indices, const Tensor& values, const Shape& shape);
/// A sparse tensor of rows by number, index (n) and values (n, ...), both row-major, index checked
/// already.
Tensor sparse_rows(const Tensor& index, const Tensor& values, const Shape& shape);
/// x with each place once, its values added in order in f32 (f64 for f64) and rounded once. The
/// result has as many entries as x, so nothing waits for the number of places. Unused entries have
/// the index -1 and zeros. Places are in row-major order, with unused entries between them.
Tensor coalesce(const Tensor& x);
/// coalesce() of each, with the same bits; on a GPU a few kernels for all that are rows by number.
TensorList coalesce(const TensorList& list);
/// (n) i64: the row-major number of each entry's place within the indexed dimensions; -1 for an
/// unused entry.
Tensor place_numbers(const Tensor& x);
/// The dense tensor; values of one place are added as in coalesce(). Does not wait. Returns a dense
/// x as it is.
Tensor to_dense(const Tensor& x);

/// The sum of two gradients, outside the tape. Both sparse: their entries one after the other. One
/// sparse: dense.
Tensor add_sparse(const Tensor& a, const Tensor& b);
/// x with other values at the same places, in their type.
Tensor with_values(const Tensor& x, const Tensor& values);

}  // namespace engine
