#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/linalg/linear.h"
#include "ops/pointwise/binary.h"
#include "ops/recurrent/recurrent.h"
#include "ops/recurrent/recurrent_layer.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"

namespace engine {
namespace {

using kernels::RecurrentCell;

void check(const Op& info, std::int64_t gates, const Tensor& x, const Tensor& h,
           const Tensor& c, const CellWeights& w) {
    one_type(info, {x, h, c, w.w_ih, w.w_hh, w.b_ih, w.b_hh});
    for (const auto* t : {&x, &h, &w.w_ih, &w.w_hh}) check_rank(info, *t, 2);
    const std::int64_t rows = gates * h.size(1);
    check_shapes(info, x.size(0) == h.size(0), x, h);
    check_shapes(info, !c.defined() || c.shape() == h.shape(), c.defined() ? c : h, h);
    check_shapes(info, w.w_ih.shape() == Shape{rows, x.size(1)}, x, w.w_ih);
    check_shapes(info, w.w_hh.shape() == Shape{rows, h.size(1)}, h, w.w_hh);
    for (const auto* bias : {&w.b_ih, &w.b_hh}) {
        if (bias->defined()) check_shapes(info, bias->shape() == Shape{rows}, *bias, w.w_ih);
    }
}

/// {h, c}: a layer of one time step.
TensorList step(const Op& op, RecurrentCell cell, const Tensor& x0, const Tensor& h0,
                const Tensor& c0, const CellWeights& weights) {
    return op.call(x0, h0, c0, weights.w_ih, weights.w_hh, weights.b_ih, weights.b_hh,
                   [&](const Tensor& x, const Tensor& h, const Tensor& c, const Tensor& w_ih,
                       const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) {
                       check(op, gates_of(cell), x, h, c, {w_ih, w_hh, b_ih, b_hh});
                       const NoAutocast inside(x.device().kind);
                       TensorList made = recurrent_layer({cell, {x.size(0)}},
                                                         {linear(x, w_ih, b_ih), h, c, w_hh, b_hh});
                       made.erase(made.begin() + 1);  // h_n is the one output
                       return made;
                   });
}

}  // namespace

Tensor rnn_tanh_cell(const Tensor& x, const Tensor& h, const CellWeights& weights) {
    return step(rnn_tanh_cell_op, RecurrentCell::rnn_tanh, x, h, {}, weights)[0];
}
Tensor rnn_relu_cell(const Tensor& x, const Tensor& h, const CellWeights& weights) {
    return step(rnn_relu_cell_op, RecurrentCell::rnn_relu, x, h, {}, weights)[0];
}
TensorList lstm_cell(const Tensor& x, const Tensor& h, const Tensor& c,
                     const CellWeights& weights) {
    return step(lstm_cell_op, RecurrentCell::lstm, x, h, c, weights);
}
Tensor gru_cell(const Tensor& x, const Tensor& h, const CellWeights& weights) {
    return step(gru_cell_op, RecurrentCell::gru, x, h, {}, weights)[0];
}

namespace {

/// Operands of a cell, after its casts.
struct Operands {
    Tensor input_gates, hidden_gates, state, input_bias, hidden_bias;
};

void check(const Op& info, std::int64_t gates, const Operands& a) {
    one_type(info, {a.input_gates, a.hidden_gates, a.state, a.input_bias, a.hidden_bias});
    check_rank(info, a.input_gates, 2);
    check_rank(info, a.state, 2);
    check_shapes(info, a.input_gates.shape() == a.hidden_gates.shape(), a.input_gates,
                 a.hidden_gates);
    const std::int64_t columns = gates * a.state.size(1);
    check_shapes(info, a.input_gates.shape() == Shape{a.state.size(0), columns}, a.input_gates,
                 a.state);
    if (a.input_bias.defined() != a.hidden_bias.defined()) {
        throw Error(ErrorCode::value, std::string(info.name) + ": takes both biases or none");
    }
    for (const auto* bias : {&a.input_bias, &a.hidden_bias}) {
        if (bias->defined())
            check_shapes(info, bias->shape() == Shape{columns}, *bias, a.input_gates);
    }
}

Tensor with_bias(const Tensor& gates, const Tensor& bias) {
    return bias.defined() ? add(widened(gates), widened(bias)) : widened(gates);
}

TensorList fused_cell(const Op& op, RecurrentCell cell, const Operands& a) {
    check(op, gates_of(cell), a);
    const NoAutocast inside(a.state.device().kind);
    const DType type = a.state.dtype();
    const Tensor gx = with_bias(a.input_gates, a.input_bias),
                 gh = with_bias(a.hidden_gates, a.hidden_bias);
    const Tensor state = widened(a.state);
    const detail::PlainStep made = detail::plain_recurrent_step(cell, gx, gh, state, state);
    TensorList results{to(made.h, type)};
    TensorList kept = made.gates;
    if (cell == RecurrentCell::lstm) {
        results.push_back(to(made.c, type));
    } else {
        kept.insert(kept.end(), {state, narrow(gh, 1, 2 * state.size(1), state.size(1))});
    }
    const GradMode off(false);
    results.push_back(to(cat(kept, 1), type));
    return results;
}

}  // namespace

TensorList thnn_fused_lstm_cell(const Tensor& input_gates, const Tensor& hidden_gates,
                                const Tensor& cx, const Tensor& input_bias,
                                const Tensor& hidden_bias) {
    return thnn_fused_lstm_cell_op.call(
        input_gates, hidden_gates, cx, input_bias, hidden_bias, [](const auto&... a) {
            return fused_cell(thnn_fused_lstm_cell_op, RecurrentCell::lstm, {a...});
        });
}
TensorList thnn_fused_gru_cell(const Tensor& input_gates, const Tensor& hidden_gates,
                               const Tensor& hx, const Tensor& input_bias,
                               const Tensor& hidden_bias) {
    return thnn_fused_gru_cell_op.call(
        input_gates, hidden_gates, hx, input_bias, hidden_bias, [](const auto&... a) {
            return fused_cell(thnn_fused_gru_cell_op, RecurrentCell::gru, {a...});
        });
}

}  // namespace engine
