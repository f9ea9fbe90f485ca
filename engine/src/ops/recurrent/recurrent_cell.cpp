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

template <Tensor (*op)(const Tensor&, const Tensor&, const CellWeights&)>
TensorList run(const OpArguments& args) {
    return {op(args.at(0), args.at(1), {args.at(2), args.at(3), args.get(4), args.get(5)})};
}
TensorList run_lstm_cell(const OpArguments& args) {
    return lstm_cell(args.at(0), args.at(1), args.at(2),
                     {args.at(3), args.at(4), args.get(5), args.get(6)});
}

void check(const OpInfo& info, std::int64_t gates, const Tensor& x, const Tensor& h,
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
TensorList step(const OpInfo& info, RecurrentCell cell, const Tensor& x0, const Tensor& h0,
                const Tensor& c0, const CellWeights& weights) {
    const auto [x, h, c, w_ih, w_hh, b_ih, b_hh] =
        autocast(info, x0, h0, c0, weights.w_ih, weights.w_hh, weights.b_ih, weights.b_hh);
    check(info, gates_of(cell), x, h, c, {w_ih, w_hh, b_ih, b_hh});
    const NoAutocast inside(x.device().kind);
    TensorList made =
        recurrent_layer({cell, {x.size(0)}}, {linear(x, w_ih, b_ih), h, c, w_hh, b_hh});
    made.erase(made.begin() + 1);  // h_n is the one output
    return made;
}

constexpr const char* two_products =
    "Two matrix products; the few operations on the gates stay in fp32.";

}  // namespace

const OpInfo rnn_tanh_cell_info{
    "rnn_tanh_cell", CastPolicy::low,   "rnn_tanh_cell(x, h, w_ih, w_hh, b_ih?, b_hh?)", 2,
    two_products,    run<rnn_tanh_cell>};
const OpInfo rnn_relu_cell_info{
    "rnn_relu_cell", CastPolicy::low,   "rnn_relu_cell(x, h, w_ih, w_hh, b_ih?, b_hh?)", 2,
    two_products,    run<rnn_relu_cell>};
const OpInfo lstm_cell_info{
    "lstm_cell", CastPolicy::low, "lstm_cell(x, h, c, w_ih, w_hh, b_ih?, b_hh?)",
    2,           two_products,    run_lstm_cell};
const OpInfo gru_cell_info{"gru_cell", CastPolicy::low, "gru_cell(x, h, w_ih, w_hh, b_ih?, b_hh?)",
                           2,          two_products,    run<gru_cell>};

Tensor rnn_tanh_cell(const Tensor& x, const Tensor& h, const CellWeights& weights) {
    if (intercepted(rnn_tanh_cell_info))
        return dispatched(
            rnn_tanh_cell_info,
            [](const auto& x1, const auto& h1, const auto&... w) {
                return rnn_tanh_cell(x1, h1, {w...});
            },
            x, h, weights.w_ih, weights.w_hh, weights.b_ih, weights.b_hh);
    return step(rnn_tanh_cell_info, RecurrentCell::rnn_tanh, x, h, {}, weights)[0];
}
Tensor rnn_relu_cell(const Tensor& x, const Tensor& h, const CellWeights& weights) {
    if (intercepted(rnn_relu_cell_info))
        return dispatched(
            rnn_relu_cell_info,
            [](const auto& x1, const auto& h1, const auto&... w) {
                return rnn_relu_cell(x1, h1, {w...});
            },
            x, h, weights.w_ih, weights.w_hh, weights.b_ih, weights.b_hh);
    return step(rnn_relu_cell_info, RecurrentCell::rnn_relu, x, h, {}, weights)[0];
}
TensorList lstm_cell(const Tensor& x, const Tensor& h, const Tensor& c,
                     const CellWeights& weights) {
    if (intercepted(lstm_cell_info))
        return dispatched(
            lstm_cell_info,
            [](const auto& x1, const auto& h1, const auto& c1, const auto&... w) {
                return lstm_cell(x1, h1, c1, {w...});
            },
            x, h, c, weights.w_ih, weights.w_hh, weights.b_ih, weights.b_hh);
    return step(lstm_cell_info, RecurrentCell::lstm, x, h, c, weights);
}
Tensor gru_cell(const Tensor& x, const Tensor& h, const CellWeights& weights) {
    if (intercepted(gru_cell_info))
        return dispatched(
            gru_cell_info,
            [](const auto& x1, const auto& h1, const auto&... w) {
                return gru_cell(x1, h1, {w...});
            },
            x, h, weights.w_ih, weights.w_hh, weights.b_ih, weights.b_hh);
    return step(gru_cell_info, RecurrentCell::gru, x, h, {}, weights)[0];
}

namespace {

template <TensorList (*op)(const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                           const Tensor&)>
TensorList run(const OpArguments& args) {
    return op(args.at(0), args.at(1), args.at(2), args.get(3), args.get(4));
}

/// Operands of a cell, after its casts.
struct Operands {
    Tensor input_gates, hidden_gates, state, input_bias, hidden_bias;
};

void check(const OpInfo& info, std::int64_t gates, const Operands& a) {
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

TensorList fused_cell(const OpInfo& info, RecurrentCell cell, const Tensor& input_gates,
                      const Tensor& hidden_gates, const Tensor& state0, const Tensor& input_bias,
                      const Tensor& hidden_bias) {
    const auto [input, hidden, before, b_input, b_hidden] =
        autocast(info, input_gates, hidden_gates, state0, input_bias, hidden_bias);
    check(info, gates_of(cell), {input, hidden, before, b_input, b_hidden});
    const NoAutocast inside(input.device().kind);
    const Tensor gx = with_bias(input, b_input), gh = with_bias(hidden, b_hidden);
    const Tensor state = widened(before);
    const detail::PlainStep made = detail::plain_recurrent_step(cell, gx, gh, state, state);
    TensorList results{to(made.h, input.dtype())};
    TensorList kept = made.gates;
    if (cell == RecurrentCell::lstm) {
        results.push_back(to(made.c, input.dtype()));
    } else {
        kept.insert(kept.end(), {state, narrow(gh, 1, 2 * state.size(1), state.size(1))});
    }
    const GradMode off(false);
    results.push_back(to(cat(kept, 1), input.dtype()));
    return results;
}

constexpr const char* one_kernel =
    "Gates that come from 16-bit matrix products stay in 16 bits; the arithmetic on them is fp32.";

}  // namespace

const OpInfo thnn_fused_lstm_cell_info{
    "_thnn_fused_lstm_cell",
    CastPolicy::low,
    "_thnn_fused_lstm_cell(input_gates, hidden_gates, cx, input_bias?, hidden_bias?)",
    2,
    one_kernel,
    run<thnn_fused_lstm_cell>};
const OpInfo thnn_fused_gru_cell_info{
    "_thnn_fused_gru_cell",
    CastPolicy::low,
    "_thnn_fused_gru_cell(input_gates, hidden_gates, hx, input_bias?, hidden_bias?)",
    2,
    one_kernel,
    run<thnn_fused_gru_cell>};

TensorList thnn_fused_lstm_cell(const Tensor& input_gates, const Tensor& hidden_gates,
                                const Tensor& cx, const Tensor& input_bias,
                                const Tensor& hidden_bias) {
    if (intercepted(thnn_fused_lstm_cell_info))
        return dispatched(
            thnn_fused_lstm_cell_info, [](const auto&... a) { return thnn_fused_lstm_cell(a...); },
            input_gates, hidden_gates, cx, input_bias, hidden_bias);
    return fused_cell(thnn_fused_lstm_cell_info, RecurrentCell::lstm, input_gates, hidden_gates, cx,
                      input_bias, hidden_bias);
}
TensorList thnn_fused_gru_cell(const Tensor& input_gates, const Tensor& hidden_gates,
                               const Tensor& hx, const Tensor& input_bias,
                               const Tensor& hidden_bias) {
    if (intercepted(thnn_fused_gru_cell_info))
        return dispatched(
            thnn_fused_gru_cell_info, [](const auto&... a) { return thnn_fused_gru_cell(a...); },
            input_gates, hidden_gates, hx, input_bias, hidden_bias);
    return fused_cell(thnn_fused_gru_cell_info, RecurrentCell::gru, input_gates, hidden_gates, hx,
                      input_bias, hidden_bias);
}

}  // namespace engine
