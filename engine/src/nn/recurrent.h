#pragma once

#include "nn/layers.h"
#include "ops/recurrent/recurrent.h"

namespace engine {

enum class RecurrentKind { rnn_tanh, rnn_relu, lstm, gru };

/// Arguments that may differ from call to call.
struct RecurrentCall {
    TensorList hx = {};                          ///< h0, and c0 for lstm; empty: zeros
    std::vector<std::int64_t> batch_sizes = {};  ///< of a packed sequence
    bool training = false;
    std::optional<RandomSource> random = {};  ///< for dropout in training
    std::uint64_t random_offset = 0;
};

/// PyTorch's RNN, LSTM and GRU: weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, then those with
/// _reverse for the way back, then layer 1. All U(-1/sqrt(hidden), 1/sqrt(hidden)).
struct Recurrent {
    struct Sizes {
        std::int64_t in, hidden, num_layers = 1;
        bool bidirectional = false, has_biases = true, batch_first = false;
        double dropout = 0;
    };
    ModuleName module;
    RecurrentKind kind = RecurrentKind::lstm;
    Sizes sizes{};
    TensorList params;
    Recurrent() = default;
    Recurrent(TensorRegistry& registry, const std::string& name, RecurrentKind kind_,
              const Sizes& sizes_);
    /// {output, h_n, and c_n for lstm} as ops/recurrent/recurrent.h has them; x (time, in) without
    /// a batch gives results without one.
    TensorList operator()(const Tensor& x, const RecurrentCall& call = {}) const;
};

/// PyTorch's RNNCell, LSTMCell and GRUCell: weight_ih, weight_hh, bias_ih, bias_hh, drawn alike.
struct RecurrentCell {
    ModuleName module;
    RecurrentKind kind = RecurrentKind::lstm;
    std::int64_t hidden = 0;
    CellWeights weights;
    RecurrentCell() = default;
    RecurrentCell(TensorRegistry& registry, const std::string& name, RecurrentKind kind_,
                  std::int64_t in, std::int64_t hidden_, bool has_biases = true);
    /// {h, and c for lstm}; an empty hx is zeros.
    TensorList operator()(const Tensor& x, const TensorList& hx = {}) const;
};

}  // namespace engine
