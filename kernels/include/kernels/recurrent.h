#pragma once

#include "kernels/array.h"
#include "kernels/kernel.h"

namespace kernels {

enum class RecurrentCell { rnn_tanh, rnn_relu, lstm, gru };

/// Blocks of `hidden` columns in a row of pre-activations.
constexpr std::int64_t gates_of(RecurrentCell cell) {
    return cell == RecurrentCell::lstm ? 4 : cell == RecurrentCell::gru ? 3 : 1;
}

struct RecurrentShape {
    RecurrentCell cell;
    std::int64_t rows, hidden;
};

/// One time step after its two products: gx (from the input) and gh (from the hidden state), (rows,
/// gates * hidden), both with their biases, gates in PyTorch's order. With s the logistic function:
///
///   rnn_tanh  h_new = tanh(gx + gh)
///   rnn_relu  h_new = max(gx + gh, 0), NaN stays
///   lstm      i, f, o = s(gx + gh), g = tanh(gx + gh): c_new = f c + i g, h_new = o tanh(c_new)
///   gru       r, z = s(gx + gh), n = tanh(gx_n + r gh_n): h_new = n + z (h - n)
///
/// State: c for lstm, h for gru, (rows, hidden); not read for the others. c_new is written for
/// lstm. All of one floating dtype; arithmetic in f32 (f64 for f64), each result rounded once,
/// h_new from c_new before its rounding. h_new and c_new may be the state.
using RecurrentForward = void(Array h_new, Array c_new, ConstArray gx, ConstArray gh,
                              ConstArray state, const RecurrentShape& shape, Stream stream);
HALFTONE_KERNEL(RecurrentForward, recurrent_forward);

/// Gradients by gx, gh and the state, given dh + dh_more by h_new and dc by c_new (each may be
/// null: 0). dgh is written for gru only (for the others it equals dgx). dstate, for lstm and gru,
/// is the gradient by c, or by the h in the formula of h_new. The gates are computed again from gx
/// and gh. relu stops gradients where gx + gh <= 0, but not where it is NaN. dstate may be dc or
/// dh_more.
using RecurrentBackward = void(Array dgx, Array dgh, Array dstate, ConstArray dh,
                               ConstArray dh_more, ConstArray dc, ConstArray gx, ConstArray gh,
                               ConstArray state, const RecurrentShape& shape, Stream stream);
HALFTONE_KERNEL(RecurrentBackward, recurrent_backward);

}  // namespace kernels
