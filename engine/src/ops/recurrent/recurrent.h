#pragma once

#include "tensor/random_source.h"
#include "tensor/tape.h"

namespace engine {

inline constexpr const char* two_products =
    "Two matrix products; the few operations on the gates stay in fp32.";
inline constexpr const char* gates_of_products =
    "Gates that come from 16-bit matrix products stay in 16 bits; the arithmetic on them is fp32.";
inline constexpr const char* products_by_step =
    "Matrix products at every step; input, states and weights go to 16 bits at once, as in cuDNN.";

// Recurrent networks, PyTorch's formulas, gates and order of weights. All arguments of one type,
// else Error(dtype); in a region all go to the low type, outputs and states are low. Products and
// states are rounded to that type, the arithmetic of the gates is f32 (f64 for f64).

/// One step: x (batch, in), h and c (batch, hidden), w_ih (gates * hidden, in), w_hh (gates *
/// hidden, hidden), biases (gates * hidden) or undefined; 1 gate, 4 for lstm, 3 for gru.
struct CellWeights {
    Tensor w_ih, w_hh, b_ih, b_hh;

    void read(auto& from) {
        for (Tensor* each : {&w_ih, &w_hh, &b_ih, &b_hh}) *each = from.tensor();
    }
};
Tensor rnn_tanh_cell(const Tensor& x, const Tensor& h, const CellWeights& weights);
inline constexpr Op rnn_tanh_cell_op(CastPolicy::low,
                                     "rnn_tanh_cell(x, h, w_ih, w_hh, b_ih?, b_hh?)", two_products,
                                     by_name<rnn_tanh_cell>);
Tensor rnn_relu_cell(const Tensor& x, const Tensor& h, const CellWeights& weights);
inline constexpr Op rnn_relu_cell_op(CastPolicy::low,
                                     "rnn_relu_cell(x, h, w_ih, w_hh, b_ih?, b_hh?)", two_products,
                                     by_name<rnn_relu_cell>);
/// {h, c}
TensorList lstm_cell(const Tensor& x, const Tensor& h, const Tensor& c, const CellWeights& weights);
inline constexpr Op lstm_cell_op(CastPolicy::low, "lstm_cell(x, h, c, w_ih, w_hh, b_ih?, b_hh?)",
                                 two_products, by_name<lstm_cell>);
Tensor gru_cell(const Tensor& x, const Tensor& h, const CellWeights& weights);
inline constexpr Op gru_cell_op(CastPolicy::low, "gru_cell(x, h, w_ih, w_hh, b_ih?, b_hh?)",
                                two_products, by_name<gru_cell>);

// PyTorch's fused cells: a step after its two products, input_gates and hidden_gates (batch, gates
// * hidden), which come without their biases (gates * hidden). The biases are added in f32 (f64 for
// f64); one without the other is an Error(value). The workspace, the last result, is what PyTorch's
// backward pass reads, rounded to the type. It has no gradient, and our backward pass does not read
// it.

/// {hy, cy, workspace (batch, 4 * hidden)}: i, f, g, o after their functions, side by side.
TensorList thnn_fused_lstm_cell(const Tensor& input_gates, const Tensor& hidden_gates,
                                const Tensor& cx, const Tensor& input_bias = {},
                                const Tensor& hidden_bias = {});
inline constexpr Op thnn_fused_lstm_cell_op(
    CastPolicy::low,
    "_thnn_fused_lstm_cell(input_gates, hidden_gates, cx, input_bias?, hidden_bias?)",
    gates_of_products, by_name<thnn_fused_lstm_cell>);
/// {hy, workspace (batch, 5 * hidden)}: r, z, n after their functions, hx, and hidden_gates' last
/// third with its bias.
TensorList thnn_fused_gru_cell(const Tensor& input_gates, const Tensor& hidden_gates,
                               const Tensor& hx, const Tensor& input_bias = {},
                               const Tensor& hidden_bias = {});
inline constexpr Op thnn_fused_gru_cell_op(
    CastPolicy::low,
    "_thnn_fused_gru_cell(input_gates, hidden_gates, hx, input_bias?, hidden_bias?)",
    gates_of_products, by_name<thnn_fused_gru_cell>);

struct RecurrentOptions {
    bool has_biases = true;
    std::int64_t num_layers = 1;
    double dropout = 0;  ///< of each layer's outputs but the last's, in training
    bool train = false;
    bool bidirectional = false;
    bool batch_first = false;
    /// Rows at each time step of a packed sequence, not rising. Empty: x is not packed.
    std::vector<std::int64_t> batch_sizes = {};
    /// Source of the masks: numbers from `random_offset` on, one for each element that may be
    /// dropped. Dropout without it is an Error(value).
    std::optional<RandomSource> random = {};
    std::uint64_t random_offset = 0;

    void read(auto& from) {
        from("has_biases", has_biases)("num_layers", num_layers)("dropout", dropout);
        from("train", train)("bidirectional", bidirectional)("batch_first", batch_first);
        from("batch_sizes", batch_sizes);
    }
};

/// x (time, batch, in), (batch, time, in) with batch_first, or packed (rows, in). hx: h0, and c0
/// for lstm, each (layers * directions, batch, hidden). params: w_ih, w_hh and, with has_biases,
/// b_ih, b_hh for each layer and direction (w_ih of a later layer takes hidden * directions
/// columns). {output, h_n, and c_n for lstm}: output as x, hidden * directions columns.
TensorList rnn_tanh(const Tensor& x, const Tensor& h0, const TensorList& params,
                    const RecurrentOptions& options);
inline constexpr Op rnn_tanh_op(
    CastPolicy::low,
    "rnn_tanh(x, hx, params[]; has_biases=True, num_layers=1, dropout=0, train=False, "
    "bidirectional=False, batch_first=False, batch_sizes=None)",
    products_by_step, by_name<rnn_tanh>);
TensorList rnn_relu(const Tensor& x, const Tensor& h0, const TensorList& params,
                    const RecurrentOptions& options);
inline constexpr Op rnn_relu_op(
    CastPolicy::low,
    "rnn_relu(x, hx, params[]; has_biases=True, num_layers=1, dropout=0, train=False, "
    "bidirectional=False, batch_first=False, batch_sizes=None)",
    products_by_step, by_name<rnn_relu>);
TensorList lstm(const Tensor& x, const TensorList& hx, const TensorList& params,
                const RecurrentOptions& options);
inline constexpr Op lstm_op(
    CastPolicy::low,
    "lstm(x, hx[], params[]; has_biases=True, num_layers=1, dropout=0, train=False, "
    "bidirectional=False, batch_first=False, batch_sizes=None)",
    products_by_step, by_name<lstm>);
TensorList gru(const Tensor& x, const Tensor& h0, const TensorList& params,
               const RecurrentOptions& options);
inline constexpr Op gru_op(CastPolicy::low,
                           "gru(x, hx, params[]; has_biases=True, num_layers=1, dropout=0, "
                           "train=False, bidirectional=False, batch_first=False, batch_sizes=None)",
                           products_by_step, by_name<gru>);

}  // namespace engine
