#pragma once

#include <cstddef>
#include <vector>

#include "kernels/recurrent_network.h"

/// Recurrent networks of the simulated cuDNN: the formulas of kernels/recurrent.h over all layers
/// and time steps, by plain loops.
namespace kernels::simt {

struct RecurrentJob {
    RecurrentNetwork network;
    bool wide = false;  ///< nothing between the steps is rounded to 16 bits
    /// Byte offsets in the weights' space, by pseudo layer and then product, each matrix's and each
    /// bias's.
    std::vector<std::size_t> matrices, biases;
};

/// Of the memory between the passes.
std::size_t recurrent_reserve_bytes(const RecurrentNetwork& network);

/// `reserve` may be null.
void recurrent_forward_job(const RecurrentJob& job, const RecurrentForwardPass& pass);
/// Writes over the gates in the reserve, as a library may.
void recurrent_backward_data_job(const RecurrentJob& job, const RecurrentBackwardPass& pass);
/// Adds to d_weights; reads what backward_data_job left in the reserve.
void recurrent_backward_weights_job(const RecurrentJob& job, const RecurrentBackwardPass& pass);

}  // namespace kernels::simt
