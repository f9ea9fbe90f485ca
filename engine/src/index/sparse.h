#pragma once

#include "core/sparse.h"

namespace engine {

// Sparse gradients, in coordinates: the value values[k, ...] stands at indices[:, k], zeros
// elsewhere. A place may come several times; its values add up. A sparse tensor has the shape, type
// and device of the dense one that it stands for; it takes part in sums of gradients, in the
// functions below and in what says so. Everything else reads its elements and throws Error(state).

/// indices (d, n), i64, on the CPU checked against `shape`; values (n, shape[d], ...). Throws
/// Error(shape), Error(dtype), Error(value).
Tensor sparse_tensor(const Tensor& indices, const Tensor& values, const Shape& shape);
/// x with each place once, its values added in f32 (f64 for f64) in their order and rounded once.
/// It keeps room for as many places as x has entries, so nothing waits for their number: entries
/// without a place have the indices -1 and zeros. Places come in row-major order, entries without
/// one between them.
Tensor coalesce(const Tensor& x);
/// (n) i64: the row-major number of each entry's place among the dimensions that are indexed; -1
/// for none.
Tensor place_numbers(const Tensor& x);
/// The dense tensor, values of a place added as coalesce() does. Does not wait. A dense x comes
/// back as it is.
Tensor to_dense(const Tensor& x);

/// Of gradients, outside the tape: both sparse: their entries one after the other; one sparse:
/// dense.
Tensor add_sparse(const Tensor& a, const Tensor& b);
/// With the same places and values(x) given, in that type.
Tensor with_values(const Tensor& x, const Tensor& values);

}  // namespace engine
