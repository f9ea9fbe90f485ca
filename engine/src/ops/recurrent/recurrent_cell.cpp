#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "ops/linalg/linear.h"
#include "ops/recurrent/recurrent.h"
#include "ops/recurrent/recurrent_layer.h"
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

}  // namespace engine
