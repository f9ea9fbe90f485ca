#include "ops/linalg/linear.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/recurrent/recurrent_layer.h"
#include "ops/shape/view.h"

namespace engine::detail {
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
