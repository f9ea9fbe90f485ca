#pragma once

#include <functional>
#include <optional>

#include "core/tape.h"
#include "kernels/recurrent_network.h"

namespace engine {

/// The same network layer by layer, of the inputs below: for what the library does not do.
using RecurrentByLayers = std::function<TensorList(const TensorList& inputs)>;

/// All layers and directions of a network over sequences of equal length as one node of the tape,
/// by the device's library: cuDNN. `inputs`: x (steps * batch, input), the rows of each time step
/// after those before; h0, c0 (layers * directions, batch, hidden), c0 undefined unless lstm; then
/// w_ih, w_hh and, with biases, b_ih, b_hh of each layer and direction. All of one type. Gives {y
/// (steps * batch, hidden * directions), h_n, (lstm) c_n}; nothing, and does nothing, where there
/// is no such library or it does not take the network. `tf32` and `training` of `network` are found
/// here.
///
/// The weights lie in the library's own order between the passes, beside the copy that they are.
/// Twice differentiable: the second derivative goes layer by layer, in f32 (f64 for f64). What the
/// library rounds to 16 bits between its steps is its own affair: no more than recurrent_layer
/// does, a rounding for each product, gate and state.
std::optional<TensorList> recurrent_network(kernels::RecurrentNetwork network,
                                            const TensorList& inputs,
                                            const RecurrentByLayers& by_layers);

}  // namespace engine
