#pragma once

#include "kernels/recurrent.h"
#include "tensor/tape.h"

namespace engine {

/// One direction of one layer, over the rows of all time steps one after the other: batch_sizes[t]
/// rows at step t, not rising, so that row r of each step belongs to sequence r.
struct RecurrentLayer {
    kernels::RecurrentCell cell;
    std::vector<std::int64_t> batch_sizes;
    bool reverse = false;
};
/// gx (rows, gates * hidden): the input's product with its bias; h0 and (lstm) c0
/// (batch_sizes[0], hidden); w_hh (gates * hidden, hidden); b_hh (gates * hidden) or undefined. All
/// of one type.
struct RecurrentInputs {
    Tensor gx, h0, c0, w_hh, b_hh;
};

/// {outputs (rows, hidden), h_n, (lstm) c_n}; the last state of each sequence is in the order of
/// h0. Each step is a product, rounded to the inputs' type, and one kernel, which rounds each state
/// once. The gradient goes back step by step, but those of w_hh and b_hh are one product and one
/// sum over all steps. Twice differentiable: the second derivative is computed in plain ops, in f32
/// (f64 for f64).
TensorList recurrent_layer(const RecurrentLayer& layer, const RecurrentInputs& inputs);

namespace detail {
/// One step by the formulas of kernels/recurrent.h in plain ops. c is read and made for lstm only;
/// `gates` after their functions: i, f, g, o of lstm; r, z, n of gru.
struct PlainStep {
    Tensor h, c;
    TensorList gates;
};
PlainStep plain_recurrent_step(kernels::RecurrentCell cell, const Tensor& gx, const Tensor& gh,
                               const Tensor& h, const Tensor& c);
/// The layer in plain ops.
TensorList plain_recurrent_layer(const RecurrentLayer& layer, const RecurrentInputs& inputs);

/// Tensors that the backward pass reads, by the names above.
struct RecurrentBackward {
    Tensor d_outputs, dh_n, dc_n;  ///< undefined: 0
    RecurrentInputs inputs;
    Tensor outputs, cells;  ///< h and (lstm) c of all steps
};
/// Gradients by gx, h0, w_hh, (lstm) c0, (if there) b_hh.
TensorList recurrent_layer_backward(const RecurrentLayer& layer, const RecurrentBackward& args);

/// A time step's place in the rows.
struct RecurrentStep {
    std::int64_t start, rows;
};
/// The steps in the order of the forward pass.
std::vector<RecurrentStep> recurrent_steps(const RecurrentLayer& layer);
/// Rows [start, start + count) of a contiguous matrix, outside any graph.
Tensor matrix_rows(const Tensor& x, std::int64_t start, std::int64_t count);
/// c = a b^T + bias, or a b + beta c; contiguous matrices, outside any graph.
void multiply_into(const Tensor& c, const Tensor& a, const Tensor& b, bool transposed_b,
                   const Tensor& bias, double beta);
}  // namespace detail

}  // namespace engine
