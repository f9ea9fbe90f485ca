#pragma once

#include "kernels/recurrent.h"
#include "kernels/support.h"

namespace kernels::test {

inline double logistic(double x) { return 1 / (1 + std::exp(-x)); }

/// One step of a cell: its operands, and the results of plain formulas in f64.
struct RecurrentProblem {
    RecurrentProblem(RecurrentCell cell, DType dtype_, std::int64_t rows, std::int64_t hidden)
        : shape{cell, rows, hidden},
          dtype(dtype_),
          states(rows * hidden),
          gates(states * gates_of(cell)),
          gx(random_buffer(dtype, gates, 1, 0, 2)),
          gh(random_buffer(dtype, gates, 2, 0, 2)),
          state(random_buffer(dtype, states, 3)),
          dh(random_buffer(dtype, states, 4)),
          dh_more(random_buffer(dtype, states, 5)),
          dc(random_buffer(dtype, states, 6)) {}

    RecurrentShape shape;
    DType dtype;
    std::int64_t states, gates;
    Buffer gx, gh, state, dh, dh_more, dc;

    bool is(RecurrentCell cell) const { return shape.cell == cell; }
    std::int64_t at(std::int64_t i, std::int64_t gate) const {
        return i / shape.hidden * gates_of(shape.cell) * shape.hidden + gate * shape.hidden +
               i % shape.hidden;
    }
    double both(std::int64_t i, std::int64_t gate) const {
        return gx.get(at(i, gate)) + gh.get(at(i, gate));
    }
};

struct RecurrentResults {
    Buffer h_new, c_new, dgx, dgh, dstate;
    explicit RecurrentResults(const RecurrentProblem& p)
        : h_new(p.dtype, p.states),
          c_new(p.dtype, p.states),
          dgx(p.dtype, p.gates),
          dgh(p.dtype, p.gates),
          dstate(p.dtype, p.states) {}
};

/// exp, tanh and the logistic function err by at most 4 units, or by as many units of their
/// argument times their slope (below 1/2), plus a dozen roundings. A difference from 1 is off by
/// units of 1, so the tolerance has the size of the factors and not of the result.
inline void expect_recurrent(const RecurrentProblem& p, const RecurrentResults& r, bool with_more) {
    const double unit = p.dtype == DType::f64 ? 0x1p-52 : 0x1p-23;
    const auto check = [&](const Buffer& got, std::int64_t i, double expected, double size) {
        EXPECT_TRUE(near(got.get(i), expected, p.dtype, 24 * unit * size)) << "element " << i;
    };
    for (std::int64_t i = 0; i < p.states; ++i) {
        const double dh = p.dh.get(i) + (with_more ? p.dh_more.get(i) : 0);
        const double big = std::fabs(p.dh.get(i)) + std::fabs(p.dh_more.get(i));
        const double a = p.both(i, 0);
        if (p.is(RecurrentCell::rnn_tanh) || p.is(RecurrentCell::rnn_relu)) {
            const bool smooth = p.is(RecurrentCell::rnn_tanh);
            const double h = smooth ? std::tanh(a) : std::max(a, 0.0);
            check(r.h_new, i, h, std::fabs(h));
            check(r.dgx, p.at(i, 0), dh * (smooth ? 1 - h * h : (a > 0 ? 1.0 : 0.0)), big);
        } else if (p.is(RecurrentCell::lstm)) {
            const double in = logistic(a), forget = logistic(p.both(i, 1));
            const double fresh = std::tanh(p.both(i, 2)), out = logistic(p.both(i, 3));
            const double c0 = p.state.get(i), c = forget * c0 + in * fresh, bent = std::tanh(c);
            const double dc = p.dc.get(i) + dh * out * (1 - bent * bent);
            const double all = std::fabs(p.dc.get(i)) + big, s = std::fabs(c0) + 1;
            check(r.c_new, i, c, s);
            check(r.h_new, i, out * bent, s);
            check(r.dgx, p.at(i, 0), dc * fresh * in * (1 - in), all * s);
            check(r.dgx, p.at(i, 1), dc * c0 * forget * (1 - forget), all * s * s);
            check(r.dgx, p.at(i, 2), dc * in * (1 - fresh * fresh), all * s);
            check(r.dgx, p.at(i, 3), dh * bent * out * (1 - out), big * s);
            check(r.dstate, i, dc * forget, all * s);
        } else {
            const double reset = logistic(a), update = logistic(p.both(i, 1));
            const double side = p.gh.get(p.at(i, 2)), h0 = p.state.get(i);
            const double fresh = std::tanh(p.gx.get(p.at(i, 2)) + reset * side);
            const double d_fresh = dh * (1 - update) * (1 - fresh * fresh);
            const double s = 1 + std::fabs(side),
                         t = s + std::fabs(h0) + std::fabs(p.gx.get(p.at(i, 2)));
            const double d_reset = d_fresh * side * reset * (1 - reset);
            const double d_update = dh * (h0 - fresh) * update * (1 - update);
            check(r.h_new, i, fresh + update * (h0 - fresh), t);
            for (const Buffer* d : {&r.dgx, &r.dgh}) {
                check(*d, p.at(i, 0), d_reset, big * s * t);
                check(*d, p.at(i, 1), d_update, big * t);
            }
            check(r.dgx, p.at(i, 2), d_fresh, big * t);
            check(r.dgh, p.at(i, 2), d_fresh * reset, big * t);
            check(r.dstate, i, dh * update, big);
        }
    }
}

/// Calls f(cell, dtype, rows, hidden) for all combinations.
template <class F>
void for_each_recurrent(const F& f) {
    for (const auto cell : {RecurrentCell::rnn_tanh, RecurrentCell::rnn_relu, RecurrentCell::lstm,
                            RecurrentCell::gru})
        for (const DType dtype : floating)
            for (const auto& [rows, hidden] : std::vector<std::pair<std::int64_t, std::int64_t>>{
                     {0, 3}, {1, 1}, {3, 7}, {2, 16}, {5, 33}, {40, 65}})
                f(RecurrentProblem(cell, dtype, rows, hidden));
}

}  // namespace kernels::test
