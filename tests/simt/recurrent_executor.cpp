#include "simt/recurrent_executor.h"

#include <array>
#include <cmath>

#include "simt/recurrent_memory.h"

namespace kernels::simt {
namespace {

/// One pass over a network, in S: f32, or f64 for f64.
template <typename S>
class Executor : RecurrentMemory<S> {
public:
    using RecurrentMemory<S>::RecurrentMemory;

    void forward(const RecurrentForwardPass& p) {
        std::vector<S> in = read(p.x, steps_ * batch_ * static_cast<Size>(n_.input));
        for (Size layer = 0; layer < static_cast<Size>(n_.layers); ++layer) {
            for (Size side = 0; side < sides_; ++side) run_direction(layer, side, in, p);
            in = outputs_of(layer);
        }
        write(p.y, 0, in);
    }

    void backward_data(const RecurrentBackwardPass& p) {
        std::vector<S> above = read(p.dy, steps_ * batch_ * hidden_ * sides_);
        for (Size layer = static_cast<Size>(n_.layers); layer-- > 0;) {
            std::vector<S> below(steps_ * batch_ * columns(layer), S(0));
            for (Size side = 0; side < sides_; ++side) go_back(layer, side, above, below, p);
            above = std::move(below);
        }
        write(p.dx, 0, above);
    }

    void backward_weights(const RecurrentBackwardPass& p) {
        std::vector<S> in = read(p.x, steps_ * batch_ * static_cast<Size>(n_.input));
        for (Size layer = 0; layer < static_cast<Size>(n_.layers); ++layer) {
            for (Size side = 0; side < sides_; ++side) add_weights(layer, side, in, p);
            in = outputs_of(layer);
        }
    }

private:
    using Memory = RecurrentMemory<S>;
    using Memory::add_products;
    using Memory::batch_;
    using Memory::columns;
    using Memory::extra;
    using Memory::gate;
    using Memory::gates_;
    using Memory::hidden_;
    using Memory::job_;
    using Memory::keep;
    using Memory::n_;
    using Memory::output;
    using Memory::outputs_of;
    using Memory::product;
    using Memory::products;
    using Memory::pseudo;
    using Memory::read;
    using Memory::sides_;
    using Memory::steps_;
    using Memory::time;
    using Memory::write;

    static S logistic(S x) { return S(1) / (S(1) + std::exp(-x)); }

    void run_direction(Size layer, Size side, const std::vector<S>& in,
                       const RecurrentForwardPass& p) {
        const auto gx = products(p.weights, layer, side, false, in, columns(layer));
        const Size states = batch_ * hidden_, at = pseudo(layer, side) * states;
        std::vector<S> h = read(p.h0, states, at), c = read(p.c0, states, at);
        for (Size step = 0; step < steps_; ++step) {
            const auto gh = products(p.weights, layer, side, true, h, hidden_);
            for (Size i = 0; i < states; ++i) {
                const Size row = time(side, step) * batch_ + i / hidden_, j = i % hidden_;
                const auto x_at = [&](Size g) { return gx[(row * gates_ + g) * hidden_ + j]; };
                const auto h_at = [&](Size g) {
                    return gh[(i / hidden_ * gates_ + g) * hidden_ + j];
                };
                h[i] = keep(run_cell(layer, side, row, j, x_at, h_at, h[i], c[i]));
                output(layer, side, row, j) = h[i];
            }
        }
        write(p.h_n, at, h);
        if (p.c_n) write(p.c_n, at, c);
    }
    /// Returns the new h, and sets c to the new c.
    template <typename X, typename H>
    S run_cell(Size layer, Size side, Size row, Size j, const X& gx, const H& gh, S h, S& c) {
        const auto both = [&](Size g) { return gx(g) + gh(g); };
        const auto put = [&](Size g, S value) { return gate(layer, side, row, g, j) = value; };
        switch (n_.cell) {
            case RecurrentCell::rnn_tanh:
                return put(0, std::tanh(both(0)));
            case RecurrentCell::rnn_relu:
                return put(0, both(0) > 0 || std::isnan(both(0)) ? both(0) : S(0));
            case RecurrentCell::lstm: {
                const S i = put(0, logistic(both(0))), f = put(1, logistic(both(1)));
                const S g = put(2, std::tanh(both(2))), o = put(3, logistic(both(3)));
                const S c_new = f * c + i * g;
                c = extra(layer, side, row, j) = keep(c_new);
                return o * std::tanh(c_new);
            }
            default: {
                const S r = put(0, logistic(both(0))), z = put(1, logistic(both(1)));
                extra(layer, side, row, j) = gh(2);
                const S fresh = put(2, std::tanh(gx(2) + r * gh(2)));
                return fresh + z * (h - fresh);
            }
        }
    }

    /// The state before a step.
    S before(Size layer, Size side, Size step, Size i, const std::vector<S>& first,
             bool cell) const {
        if (step == 0) return first[i];
        const Size row = time(side, step - 1) * batch_ + i / hidden_;
        return cell ? extra(layer, side, row, i % hidden_) : output(layer, side, row, i % hidden_);
    }

    void go_back(Size layer, Size side, const std::vector<S>& above, std::vector<S>& below,
                 const RecurrentBackwardPass& p) {
        const Size states = batch_ * hidden_, at = pseudo(layer, side) * states;
        const std::vector<S> h0 = read(p.h0, states, at), c0 = read(p.c0, states, at);
        std::vector<S> dh = read(p.dh_n, states, at), dc = read(p.dc_n, states, at);
        std::vector<S> all(size_of_gates(n_)), now(batch_ * gates_ * hidden_);
        for (Size step = steps_; step-- > 0;) {
            std::vector<S> direct(states, S(0));
            for (Size i = 0; i < states; ++i) {
                const Size row = time(side, step) * batch_ + i / hidden_, j = i % hidden_;
                const S d = above[(row * sides_ + side) * hidden_ + j] + dh[i];
                const S state =
                    before(layer, side, step, i, n_.cell == RecurrentCell::lstm ? c0 : h0,
                           n_.cell == RecurrentCell::lstm);
                const auto made = cell_gradient(layer, side, row, j, d, state, dc[i], direct[i]);
                for (Size g = 0; g < gates_; ++g) {
                    const S value = keep(made[g]);
                    gate(layer, side, row, g, j) = all[(row * gates_ + g) * hidden_ + j] = value;
                    now[(i / hidden_ * gates_ + g) * hidden_ + j] = value;
                }
                if (n_.cell == RecurrentCell::gru) {
                    extra(layer, side, row, j) = keep(made[3]);
                    now[(i / hidden_ * gates_ + 2) * hidden_ + j] = keep(made[3]);
                }
            }
            dh = direct;
            add_products(dh, p.weights, layer, side, true, now, hidden_);
        }
        add_products(below, p.weights, layer, side, false, all, columns(layer));
        write(p.dh0, at, dh);
        if (p.dc0) write(p.dc0, at, dc);
    }
    /// Gradients with respect to the gates' sums; for gru also with respect to the hidden side of
    /// n. `direct` becomes the part of h's gradient that goes through no matrix product, dc the
    /// gradient of the previous c.
    std::array<S, 4> cell_gradient(Size layer, Size side, Size row, Size j, S dh, S state, S& dc,
                                   S& direct) const {
        const auto value = [&](Size g) { return gate(layer, side, row, g, j); };
        switch (n_.cell) {
            case RecurrentCell::rnn_tanh:
                return {dh * (1 - value(0) * value(0))};
            case RecurrentCell::rnn_relu:
                return {value(0) > 0 || std::isnan(value(0)) ? dh : S(0)};
            case RecurrentCell::lstm: {
                const S i = value(0), f = value(1), g = value(2), o = value(3);
                const S bent = std::tanh(f * state + i * g);
                const S d = dc + dh * o * (1 - bent * bent);
                dc = keep(d * f);
                return {d * g * i * (1 - i), d * state * f * (1 - f), d * i * (1 - g * g),
                        dh * bent * o * (1 - o)};
            }
            default: {
                const S r = value(0), z = value(1), fresh = value(2);
                const S d_fresh = dh * (1 - z) * (1 - fresh * fresh);
                direct = keep(dh * z);
                return {d_fresh * extra(layer, side, row, j) * r * (1 - r),
                        dh * (state - fresh) * z * (1 - z), d_fresh, d_fresh * r};
            }
        }
    }

    void add_weights(Size layer, Size side, const std::vector<S>& in,
                     const RecurrentBackwardPass& p) {
        const std::vector<S> h0 =
            read(p.h0, batch_ * hidden_, pseudo(layer, side) * batch_ * hidden_);
        for (const bool of_hidden : {false, true})
            for (Size g = 0; g < gates_; ++g) {
                const Size cols = of_hidden ? hidden_ : columns(layer);
                std::vector<S> dw(hidden_ * cols, S(0)), db(hidden_, S(0));
                for (Size step = 0; step < steps_; ++step)
                    for (Size b = 0; b < batch_; ++b) {
                        const Size row = time(side, step) * batch_ + b;
                        for (Size j = 0; j < hidden_; ++j) {
                            const bool own = of_hidden && g == 2 && n_.cell == RecurrentCell::gru;
                            const S d =
                                own ? extra(layer, side, row, j) : gate(layer, side, row, g, j);
                            db[j] += d;
                            for (Size k = 0; k < cols; ++k)
                                dw[j * cols + k] +=
                                    d * (of_hidden
                                             ? before(layer, side, step, b * hidden_ + k, h0, false)
                                             : in[row * cols + k]);
                        }
                    }
                const Size at = product(layer, side, of_hidden, g);
                add_to(p.d_weights, job_.matrices[at], dw);
                if (n_.biases) add_to(p.d_weights, job_.biases[at], db);
            }
    }
    void add_to(void* weights, Size offset, std::vector<S> values) const {
        auto* const at = static_cast<std::byte*>(weights) + offset;
        const std::vector<S> old = read(at, values.size());
        for (Size i = 0; i < values.size(); ++i) values[i] += old[i];
        write(at, 0, values);
    }
};

template <typename F>
void in_its_type(const RecurrentJob& job, void* reserve, const F& f) {
    if (job.network.dtype == DType::f64)
        f(Executor<double>{job, reserve});
    else
        f(Executor<float>{job, reserve});
}

}  // namespace

std::size_t recurrent_reserve_bytes(const RecurrentNetwork& n) {
    return elements_per_direction(n) * pseudo_layers(n) * (n.dtype == DType::f64 ? 8 : 4);
}

void recurrent_forward_job(const RecurrentJob& job, const RecurrentForwardPass& pass) {
    in_its_type(job, pass.reserve, [&](auto&& executor) { executor.forward(pass); });
}
void recurrent_backward_data_job(const RecurrentJob& job, const RecurrentBackwardPass& pass) {
    in_its_type(job, pass.reserve, [&](auto&& executor) { executor.backward_data(pass); });
}
void recurrent_backward_weights_job(const RecurrentJob& job, const RecurrentBackwardPass& pass) {
    in_its_type(job, pass.reserve, [&](auto&& executor) { executor.backward_weights(pass); });
}

}  // namespace kernels::simt
