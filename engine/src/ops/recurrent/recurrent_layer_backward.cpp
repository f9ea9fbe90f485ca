#include <algorithm>

#include "amp/autocast.h"
#include "autograd/second_derivative.h"
#include "ops/linalg/linear.h"
#include "ops/linalg/matmul.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/recurrent/recurrent_layer.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "ops/shape/window.h"
#include "tensor/layout.h"

namespace engine::detail {
namespace {

using kernels::RecurrentCell;

constexpr Op layer_backward_op(
    "recurrent_layer_backward(d_outputs?, dh_n?, dc_n?, gx, h0, w_hh, c0?, b_hh?)",
    "Its inputs have the forward op's types.");

/// The state before each step, in the order of the rows: the results of the previous step, and
/// `first` for rows that begin here.
Tensor states_before(const RecurrentLayer& layer, const Tensor& results, const Tensor& first) {
    const Tensor out = Tensor::empty(results.shape(), results.dtype(), results.device());
    const Tensor from = row_major(first);
    RecurrentStep last{0, 0};
    for (const auto& step : recurrent_steps(layer)) {
        const std::int64_t shared = std::min(last.rows, step.rows);
        if (shared > 0)
            copy_into(matrix_rows(out, step.start, shared),
                      matrix_rows(results, last.start, shared));
        if (step.rows > shared) {
            copy_into(matrix_rows(out, step.start + shared, step.rows - shared),
                      matrix_rows(from, shared, step.rows - shared));
        }
        last = step;
    }
    return out;
}

/// The gradient that is carried back from step to step, starting with that of the last state.
Tensor carried(const Tensor& of_last, const Tensor& like) {
    if (!of_last.defined()) return Tensor::zeros(like.shape(), like.dtype(), like.device());
    const Tensor y = Tensor::empty(like.shape(), like.dtype(), like.device());
    copy_into(y, of_last);
    return y;
}

struct Steps {
    Tensor dgx, dgh;  ///< one tensor but for gru
    Tensor dh, dc;    ///< by h0 and c0
};

/// Back through the steps; `before` holds the hidden states before them, `gh` their products.
Steps go_back(const RecurrentLayer& layer, const RecurrentBackward& a, const Tensor& before,
              const Tensor& gh) {
    const bool lstm = layer.cell == RecurrentCell::lstm, gru = layer.cell == RecurrentCell::gru;
    const DType dtype = gh.dtype();
    const Tensor gx = row_major(a.inputs.gx), above = row_major(a.d_outputs);
    const Tensor w_hh = row_major(a.inputs.w_hh);
    const Tensor states = lstm ? states_before(layer, a.cells, a.inputs.c0) : before;
    Steps s;
    s.dgx = Tensor::empty(gx.shape(), dtype, gx.device());
    s.dgh = gru ? Tensor::empty(gx.shape(), dtype, gx.device()) : s.dgx;
    s.dh = carried(a.dh_n, a.inputs.h0);
    if (lstm) s.dc = carried(a.dc_n, a.inputs.c0);
    auto steps = recurrent_steps(layer);
    std::reverse(steps.begin(), steps.end());
    const kernels::Array none{nullptr, dtype, 0};
    for (const auto& step : steps) {
        const auto rows = [&](const Tensor& t) { return matrix_rows(t, step.start, step.rows); };
        const Tensor dh = matrix_rows(s.dh, 0, step.rows);
        const Tensor dc = lstm ? matrix_rows(s.dc, 0, step.rows) : Tensor();
        on(gx.device(), kernels::cpu::recurrent_backward, kernels::cuda::recurrent_backward)(
            rows(s.dgx).array(), gru ? rows(s.dgh).array() : none,
            lstm  ? dc.array()
            : gru ? dh.array()
                  : none,
            above.defined() ? kernels::ConstArray(rows(above).array()) : none, dh.array(),
            lstm ? dc.array() : none, rows(gx).array(), rows(gh).array(), rows(states).array(),
            {layer.cell, step.rows, before.size(1)}, current_stream());
        multiply_into(dh, rows(s.dgh), w_hh, false, {}, gru ? 1 : 0);
    }
    return s;
}

/// The gradients outside the tape.
TensorList compute(const RecurrentLayer& layer, const RecurrentBackward& a) {
    const GradMode off(false);
    const NoAutocast inside(a.inputs.gx.device().kind);
    const Tensor before = states_before(layer, a.outputs, a.inputs.h0);
    // One product for all steps, instead of keeping those of the forward pass.
    const Tensor gh = linear(before, a.inputs.w_hh.detach(),
                             a.inputs.b_hh.defined() ? a.inputs.b_hh.detach() : Tensor());
    const Steps s = go_back(layer, a, before, gh);
    TensorList out{s.dgx, s.dh, product(s.dgh, true, before, false)};
    if (s.dc.defined()) out.push_back(s.dc);
    if (a.inputs.b_hh.defined()) out.push_back(sum(s.dgh, {0}, false, s.dgh.dtype()));
    return out;
}

/// The gradients of the backward pass's outputs by its inputs, in that order.
TensorList second(const RecurrentLayer& layer, std::span<const Tensor> grads, const Saved& saved) {
    return second_derivative(grads, saved, 8, 3, [&](const TensorList& in) {
        return plain_recurrent_layer(layer, {in[0], in[1], in[3], in[2], in[4]});
    });
}

}  // namespace

TensorList recurrent_layer_backward(const RecurrentLayer& layer, const RecurrentBackward& a) {
    const RecurrentInputs& in = a.inputs;
    const Tensor inputs[] = {a.d_outputs, a.dh_n, a.dc_n, in.gx, in.h0, in.w_hh, in.c0, in.b_hh};
    std::vector<Save> saves;
    for (const auto& t : inputs) saves.push_back(save(t));
    return record_outputs(layer_backward_op, inputs, compute(layer, a), saves,
                          [layer](std::span<const Tensor> grads, const Saved& saved) {
                              return second(layer, grads, saved);
                          });
}

namespace {

using kernels::RecurrentCell;

Tensor first_rows(const Tensor& t, std::int64_t count) {
    return t.defined() && t.size(0) > count ? narrow(t, 0, 0, count) : t;
}
/// The new rows before what is left of the old ones.
Tensor put_rows(const Tensor& old, const Tensor& fresh) {
    const std::int64_t left = old.defined() ? old.size(0) - fresh.size(0) : 0;
    return left > 0 ? cat({fresh, narrow(old, 0, fresh.size(0), left)}, 0) : fresh;
}

}  // namespace

PlainStep plain_recurrent_step(RecurrentCell cell, const Tensor& gx, const Tensor& gh,
                               const Tensor& h, const Tensor& c) {
    const std::int64_t hidden = gx.size(1) / gates_of(cell);
    const auto gate = [&](const Tensor& t, std::int64_t k) {
        return narrow(t, 1, k * hidden, hidden);
    };
    const auto both = [&](std::int64_t k) { return add(gate(gx, k), gate(gh, k)); };
    switch (cell) {
        case RecurrentCell::rnn_tanh:
            return {tanh(add(gx, gh)), {}, {}};
        case RecurrentCell::rnn_relu:
            return {relu(add(gx, gh)), {}, {}};
        case RecurrentCell::lstm: {
            const Tensor in = sigmoid(both(0)), forget = sigmoid(both(1)), fresh = tanh(both(2)),
                         out = sigmoid(both(3));
            const Tensor c_new = add(mul(forget, c), mul(in, fresh));
            return {mul(out, tanh(c_new)), c_new, {in, forget, fresh, out}};
        }
        case RecurrentCell::gru:
            break;
    }
    const Tensor reset = sigmoid(both(0)), update = sigmoid(both(1));
    const Tensor fresh = tanh(add(gate(gx, 2), mul(reset, gate(gh, 2))));
    return {add(fresh, mul(update, sub(h, fresh))), {}, {reset, update, fresh}};
}

TensorList plain_recurrent_layer(const RecurrentLayer& layer, const RecurrentInputs& in) {
    Tensor h = in.h0, c = in.c0;
    TensorList by_step;
    for (const auto& step : recurrent_steps(layer)) {
        const Tensor before = first_rows(h, step.rows);
        const PlainStep after = plain_recurrent_step(
            layer.cell, narrow(in.gx, 0, step.start, step.rows), linear(before, in.w_hh, in.b_hh),
            before, first_rows(c, step.rows));
        by_step.push_back(after.h);
        h = put_rows(h, after.h);
        if (after.c.defined()) c = put_rows(c, after.c);
    }
    if (layer.reverse) by_step = TensorList(by_step.rbegin(), by_step.rend());
    TensorList out{cat(by_step, 0), h};
    if (c.defined()) out.push_back(c);
    return out;
}

}  // namespace engine::detail
