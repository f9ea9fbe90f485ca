#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/pointwise/binary.h"
#include "ops/recurrent/recurrent.h"
#include "ops/recurrent/recurrent_layer.h"
#include "ops/shape/view.h"
#include "tensor/check.h"
#include "tensor/wide.h"

namespace engine {
namespace {

using kernels::RecurrentCell;

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
