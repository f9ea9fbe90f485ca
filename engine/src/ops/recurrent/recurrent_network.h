#pragma once

#include <functional>
#include <optional>

#include "kernels/recurrent_network.h"
#include "tensor/tape.h"

namespace engine {

/// A network layer by layer, for what the library does not compute.
using RecurrentByLayers = std::function<TensorList(const TensorList& inputs)>;

/// All layers and directions of a network over sequences of equal length as one node of the tape,
/// computed by cuDNN. Returns nothing, and does nothing, if there is no cuDNN or it does not
/// support the network.
///
/// `inputs`, all of one type:
/// - x (steps * batch, input), the rows of one time step after those of the previous one;
/// - h0, c0 (layers * directions, batch, hidden), c0 undefined unless lstm;
/// - w_ih, w_hh and, with biases, b_ih, b_hh of each layer and direction.
///
/// Gives {y (steps * batch, hidden * directions), h_n, (lstm) c_n}. `tf32` and `training` of
/// `network` are set here.
///
/// Between the passes the weights are kept in the library's own order: a copy, unless they lie in
/// such a block themselves (ops/recurrent/weight_block.h). Their gradients are parts of a block if
/// - all of them are wanted,
/// - the library keeps each whole, and
/// - no graph is made of the backward pass.
///
/// Twice differentiable: the second derivative is computed layer by layer, in f32 (f64 for f64).
/// The library's roundings to 16 bits between steps are not documented; they are at most
/// those of recurrent_layer, one for each product, gate and state.
std::optional<TensorList> recurrent_network(kernels::RecurrentNetwork network,
                                            const TensorList& inputs,
                                            const RecurrentByLayers& by_layers);

}  // namespace engine
