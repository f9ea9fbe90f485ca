#pragma once

#include <cstddef>
#include <vector>

#include "kernels/recurrent_network.h"

/// Recurrent networks of the simulated cuDNN: the formulas of kernels/recurrent.h over all layers
/// and time steps, in plain loops.
namespace kernels::simt {

struct RecurrentJob {
    RecurrentNetwork network;
    bool wide = false;  ///< values between the steps are not rounded to 16 bits
    /// Byte offsets of the matrices and biases in the weights' space, by pseudo layer and then
    /// product.
    std::vector<std::size_t> matrices, biases;
};

/// The size of the memory that is kept between the passes.
std::size_t recurrent_reserve_bytes(const RecurrentNetwork& network);

/// `reserve` may be null.
void recurrent_forward_job(const RecurrentJob& job, const RecurrentForwardPass& pass);
/// Overwrites the gates in the reserve, as a library may.
void recurrent_backward_data_job(const RecurrentJob& job, const RecurrentBackwardPass& pass);
/// Adds to d_weights. Reads the reserve that backward_data_job has written.
void recurrent_backward_weights_job(const RecurrentJob& job, const RecurrentBackwardPass& pass);

}  // namespace kernels::simt
