#pragma once

#include "tensor/tape.h"

namespace engine {

/// Whether embedding_bag_group() may take the place of embedding_bag() of each table: no types are
/// forced, and the tables are row-major, of one width, type and device with `first`, whose type is
/// none that the join would widen them to.
bool can_group_bags(const Tensor& first, const TensorList& tables);

/// The vectors of each sample side by side: `first` (B, width), then of each table (rows, width)
/// the row that its column of the ids (B, tables) names. Returns (B, 1 + tables, width) of the
/// tables' type. One node of the tape with the bits, the gradients and the errors of
/// embedding_bag() of each table (one index a bag) and cat(); a few kernels for all tables where
/// each would have its own.
Tensor embedding_bag_group(const Tensor& first, const Tensor& ids, const TensorList& tables,
                           bool sparse);

}  // namespace engine
