#include "ops/binary.h"
#include "ops/matmul.h"
#include "ops/recurrent_layer.h"
#include "ops/unary.h"
#include "ops/view.h"

namespace engine::detail {
namespace {

using kernels::RecurrentCell;

struct States {
    Tensor h, c;
};

/// The formulas of kernels/recurrent.h.
States plain_step(RecurrentCell cell, const Tensor& gx, const Tensor& gh, const States& before) {
    const std::int64_t hidden = before.h.size(1);
    const auto gate = [&](const Tensor& t, std::int64_t k) {
        return narrow(t, 1, k * hidden, hidden);
    };
    const auto both = [&](std::int64_t k) { return add(gate(gx, k), gate(gh, k)); };
    switch (cell) {
        case RecurrentCell::rnn_tanh:
            return {tanh(add(gx, gh)), {}};
        case RecurrentCell::rnn_relu:
            return {relu(add(gx, gh)), {}};
        case RecurrentCell::lstm: {
            const Tensor kept = mul(sigmoid(both(1)), before.c);
            const Tensor c = add(kept, mul(sigmoid(both(0)), tanh(both(2))));
            return {mul(sigmoid(both(3)), tanh(c)), c};
        }
        case RecurrentCell::gru:
            break;
    }
    const Tensor fresh = tanh(add(gate(gx, 2), mul(sigmoid(both(0)), gate(gh, 2))));
    return {add(fresh, mul(sigmoid(both(1)), sub(before.h, fresh))), {}};
}

Tensor first_rows(const Tensor& t, std::int64_t count) {
    return t.defined() && t.size(0) > count ? narrow(t, 0, 0, count) : t;
}
/// The new rows before what is left of the old ones.
Tensor put_rows(const Tensor& old, const Tensor& fresh) {
    const std::int64_t left = old.defined() ? old.size(0) - fresh.size(0) : 0;
    return left > 0 ? cat({fresh, narrow(old, 0, fresh.size(0), left)}, 0) : fresh;
}

}  // namespace

TensorList plain_recurrent_layer(const RecurrentLayer& layer, const RecurrentInputs& in) {
    States now{in.h0, in.c0};
    TensorList by_step;
    for (const auto& step : recurrent_steps(layer)) {
        const States before{first_rows(now.h, step.rows), first_rows(now.c, step.rows)};
        const States after = plain_step(layer.cell, narrow(in.gx, 0, step.start, step.rows),
                                        linear(before.h, in.w_hh, in.b_hh), before);
        by_step.push_back(after.h);
        now.h = put_rows(now.h, after.h);
        if (after.c.defined()) now.c = put_rows(now.c, after.c);
    }
    if (layer.reverse) by_step = TensorList(by_step.rbegin(), by_step.rend());
    TensorList out{cat(by_step, 0), now.h};
    if (now.c.defined()) out.push_back(now.c);
    return out;
}

}  // namespace engine::detail
