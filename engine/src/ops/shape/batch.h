#pragma once

#include "tensor/tape.h"

namespace engine {

// Ops on batches of sequences, images or volumes that also accept a single one, with `dims` spatial
// dimensions after the channels.

/// x (N, C, space..), or x (C, space..) as a batch of one. Error(shape) for another rank.
Tensor with_batch(const OpInfo& info, const Tensor& x, int dims);
/// The op's result y without its batch dimension if x had none.
Tensor without_batch(const Tensor& y, const Tensor& x, int dims);

}  // namespace engine
