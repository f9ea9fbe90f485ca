#pragma once

#include <cstddef>
#include <span>

#include "kernels/recurrent_network.h"
#include "tensor/tensor.h"

// The parameters of a recurrent network, or their gradients, as parts of one block in the library's
// order: it reads and writes them there, and nothing is copied. Parts share the block's version, so
// they are to be written together.
namespace engine {

/// A tensor of the shape and type of `like` whose elements are those of `block` from byte `place`
/// on. It counts as an owner of its own: the only holder of a part may write into it, and
/// instruments that follow tensors by their owners distinguish parts. The block lives as long as
/// any part of it.
Tensor part_of(const Tensor& block, const Tensor& like, std::size_t place);

/// Whether the parameters are the parts of one block as the library has it.
bool lie_in_block(std::span<const Tensor> params, const kernels::RecurrentSpaces& spaces);
/// The bytes of the block that `part` lies in.
Tensor block_of(const Tensor& part);

/// Moves the parameters of a network on a GPU into a new block, where the library supports that;
/// all handles to them follow, but not views that were taken before. Steps and places of these
/// tensors must not have been recorded. Does nothing if the tensors already lie in a block or the
/// library fails; the forward pass then reports the failure. The tensors are those of
/// kernels/recurrent_network.h, dense.
void move_into_block(const kernels::RecurrentNetwork& network, std::span<const Tensor> params);

}  // namespace engine
