#include <cmath>

#include "cpu/recurrent_rows.h"

namespace kernels::cpu {
namespace {

double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double logistic_slope(double y) { return y * (1 - y); }
double tanh_slope(double y) { return 1 - y * y; }

const double* doubles(ConstArray x) { return static_cast<const double*>(x.data); }
double* doubles(Array x) { return static_cast<double*>(x.data); }

double value_or_zero(ConstArray x, std::int64_t i) { return x.data == nullptr ? 0 : doubles(x)[i]; }

/// Pre-activations of one row at one column; gate k.
struct Gates {
    const double* gx;
    const double* gh;
    std::int64_t hidden;
    double input(std::int64_t k) const { return gx[k * hidden]; }
    double hidden_side(std::int64_t k) const { return gh[k * hidden]; }
    double both(std::int64_t k) const { return input(k) + hidden_side(k); }
};

/// f(index in the states, index of gate 0, gates) for every column of the rows.
template <class F>
void for_each_column(ConstArray gx, ConstArray gh, const RecurrentShape& shape, std::int64_t begin,
                     std::int64_t end, const F& f) {
    const std::int64_t n = shape.hidden, width = gates_of(shape.cell) * n;
    for (std::int64_t row = begin; row < end; ++row)
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int64_t at = row * width + i;
            f(row * n + i, at, Gates{doubles(gx) + at, doubles(gh) + at, n});
        }
}

}  // namespace

void recurrent_rows_double(const RecurrentStep& s, std::int64_t begin, std::int64_t end) {
    double *h_new = doubles(s.h_new), *c_new = doubles(s.c_new);
    const double* state = doubles(s.state);
    for_each_column(s.gx, s.gh, s.shape, begin, end, [&](auto i, auto, const Gates& g) {
        switch (s.shape.cell) {
            case RecurrentCell::rnn_tanh:
                h_new[i] = std::tanh(g.both(0));
                break;
            case RecurrentCell::rnn_relu:
                h_new[i] = g.both(0) <= 0 ? 0 : g.both(0);
                break;
            case RecurrentCell::lstm: {
                const double c =
                    logistic(g.both(1)) * state[i] + logistic(g.both(0)) * std::tanh(g.both(2));
                c_new[i] = c;
                h_new[i] = logistic(g.both(3)) * std::tanh(c);
                break;
            }
            case RecurrentCell::gru: {
                const double reset = logistic(g.both(0)), update = logistic(g.both(1));
                const double fresh = std::tanh(g.input(2) + reset * g.hidden_side(2));
                h_new[i] = fresh + update * (state[i] - fresh);
                break;
            }
        }
    });
}

void recurrent_gradient_rows_double(const RecurrentGradient& s, std::int64_t begin,
                                    std::int64_t end) {
    double *dgx = doubles(s.dgx), *dgh = doubles(s.dgh), *dstate = doubles(s.dstate);
    const double* state = doubles(s.state);
    const std::int64_t n = s.shape.hidden;
    for_each_column(s.gx, s.gh, s.shape, begin, end, [&](auto i, auto at, const Gates& g) {
        const double dh = value_or_zero(s.dh, i) + value_or_zero(s.dh_more, i);
        switch (s.shape.cell) {
            case RecurrentCell::rnn_tanh:
                dgx[at] = dh * tanh_slope(std::tanh(g.both(0)));
                break;
            case RecurrentCell::rnn_relu:
                dgx[at] = g.both(0) <= 0 ? 0 : dh;
                break;
            case RecurrentCell::lstm: {
                const double in = logistic(g.both(0)), forget = logistic(g.both(1));
                const double fresh = std::tanh(g.both(2)), out = logistic(g.both(3));
                const double c = state[i], bent = std::tanh(forget * c + in * fresh);
                const double dc = value_or_zero(s.dc, i) + dh * out * tanh_slope(bent);
                dgx[at] = dc * fresh * logistic_slope(in);
                dgx[at + n] = dc * c * logistic_slope(forget);
                dgx[at + 2 * n] = dc * in * tanh_slope(fresh);
                dgx[at + 3 * n] = dh * bent * logistic_slope(out);
                dstate[i] = dc * forget;
                break;
            }
            case RecurrentCell::gru: {
                const double reset = logistic(g.both(0)), update = logistic(g.both(1));
                const double side = g.hidden_side(2);
                const double fresh = std::tanh(g.input(2) + reset * side), h = state[i];
                const double d_fresh = dh * (1 - update) * tanh_slope(fresh);
                dgh[at] = dgx[at] = d_fresh * side * logistic_slope(reset);
                dgh[at + n] = dgx[at + n] = dh * (h - fresh) * logistic_slope(update);
                dgx[at + 2 * n] = d_fresh;
                dgh[at + 2 * n] = d_fresh * reset;
                dstate[i] = dh * update;
                break;
            }
        }
    });
}

}  // namespace kernels::cpu
