#pragma once

#include "kernels/bounded.h"
#include "kernels/recurrent_network_problem.h"

/// A recurrent network by plain loops in f64, with bounds. Values that a library may keep between
/// its steps (products, gates, states, and their gradients) may be rounded to the type.
namespace kernels::test {

using Bounds = std::vector<Bounded>;

struct RecurrentNetworkResults {
    Bounds y, h_n, c_n, dx, dh0, dc0;
    std::vector<Bounds> d_params;
};

/// Computes the reference.
class RecurrentNetworkReference {
public:
    RecurrentNetworkReference(const RecurrentNetworkProblem& p, bool with_last_gradients)
        : p_(p), n_(p.n), m_(n_.dtype), gates_(gates_of(n_.cell)), with_last_(with_last_gradients) {
        r_.h_n.resize(size(p.states()));
        r_.c_n = r_.dh0 = r_.dc0 = r_.h_n;
        for (const Buffer& w : p.params) r_.d_params.emplace_back(size(w.size()));
    }

    RecurrentNetworkResults run() {
        Bounds now = exact(p_.x);
        std::vector<Bounds> inputs;
        for (std::int64_t layer = 0; layer < n_.layers; ++layer) {
            inputs.push_back(now);
            now = forward(layer, inputs.back());
        }
        r_.y = now;
        Bounds d = exact(p_.dy);
        for (std::int64_t layer = n_.layers - 1; layer >= 0; --layer)
            d = backward(layer, inputs[size(layer)], d);
        r_.dx = d;
        return r_;
    }

private:
    /// One direction of a layer at one step, for the backward pass.
    struct Step {
        Bounds gates, hidden_side, h_before, c_before, c;
    };

    static std::size_t size(std::int64_t i) { return static_cast<std::size_t>(i); }
    static Bounds exact(const Buffer& b) {
        Bounds out;
        for (const double v : b.values()) out.push_back({v, 0});
        return out;
    }
    std::int64_t at(std::int64_t layer, std::int64_t side) const {
        return layer * n_.directions() + side;
    }
    std::size_t param(std::int64_t at, std::int64_t kind) const {
        return size(at * (n_.biases ? 4 : 2) + kind);
    }
    std::int64_t time(std::int64_t side, std::int64_t step) const {
        return side == 0 ? step : n_.steps - 1 - step;
    }
    Bounded weight(std::int64_t direction, std::int64_t kind, std::int64_t i) const {
        return {p_.params[param(direction, kind)].get(i), 0};
    }

    /// Row `row` of x (., columns) times row `out` of the weights, plus its bias.
    Bounded product(std::int64_t direction, std::int64_t kind, const Bounds& x, std::int64_t row,
                    std::int64_t columns, std::int64_t out) const {
        BoundedMath::Sum sum(m_);
        for (std::int64_t k = 0; k < columns; ++k)
            sum.add(x[size(row * columns + k)], weight(direction, kind, out * columns + k));
        if (n_.biases) sum.add(weight(direction, kind + 2, out));
        return m_.stored(sum.get());
    }

    Bounds forward(std::int64_t layer, const Bounds& x) {
        const std::int64_t width = n_.hidden * n_.directions();
        Bounds y(size(n_.steps * n_.batch * width));
        for (std::int64_t side = 0; side < n_.directions(); ++side) {
            const std::int64_t direction = at(layer, side);
            const std::int64_t first = direction * n_.batch * n_.hidden;
            Bounds h, c;
            for (std::int64_t i = 0; i < n_.batch * n_.hidden; ++i) {
                h.push_back({p_.h0.get(first + i), 0});
                c.push_back({p_.c0.get(first + i), 0});
            }
            auto& steps = steps_.emplace_back();
            for (std::int64_t step = 0; step < n_.steps; ++step) {
                Step s{{}, {}, h, c, c};
                for (std::int64_t i = 0; i < n_.batch * n_.hidden; ++i) {
                    const std::int64_t b = i / n_.hidden, j = i % n_.hidden;
                    const std::int64_t row = time(side, step) * n_.batch + b;
                    Bounds gx, gh;
                    for (std::int64_t g = 0; g < gates_; ++g) {
                        gx.push_back(product(direction, 0, x, row, p_.layer_columns(layer),
                                             g * n_.hidden + j));
                        gh.push_back(
                            product(direction, 1, s.h_before, b, n_.hidden, g * n_.hidden + j));
                    }
                    h[size(i)] = m_.stored(cell(s, i, gx, gh));
                    y[size(row * width + side * n_.hidden + j)] = h[size(i)];
                }
                c = s.c;
                steps.push_back(std::move(s));
            }
            for (std::int64_t i = 0; i < n_.batch * n_.hidden; ++i) {
                r_.h_n[size(first + i)] = h[size(i)];
                r_.c_n[size(first + i)] = c[size(i)];
            }
        }
        return y;
    }
    Bounded cell(Step& s, std::int64_t i, const Bounds& gx, const Bounds& gh) {
        const auto both = [&](std::size_t g) { return m_.add(gx[g], gh[g]); };
        const auto put = [&](Bounded value) {
            s.gates.push_back(m_.stored(value));
            return s.gates.back();
        };
        switch (n_.cell) {
            case RecurrentCell::rnn_tanh:
                return put(m_.tanh(both(0)));
            case RecurrentCell::rnn_relu:
                return put(m_.relu(both(0)));
            case RecurrentCell::lstm: {
                const Bounded in = put(m_.logistic(both(0))), forget = put(m_.logistic(both(1)));
                const Bounded fresh = put(m_.tanh(both(2))), out = put(m_.logistic(both(3)));
                s.c[size(i)] =
                    m_.stored(m_.add(m_.mul(forget, s.c_before[size(i)]), m_.mul(in, fresh)));
                return m_.mul(out, m_.tanh(s.c[size(i)]));
            }
            default: {
                const Bounded reset = put(m_.logistic(both(0)));
                const Bounded update = put(m_.logistic(both(1)));
                s.hidden_side.push_back(gh[2]);
                const Bounded fresh = put(m_.tanh(m_.add(gx[2], m_.mul(reset, gh[2]))));
                // Computed both as n + z (h - n) and as (1 - z) n + z h.
                const Bounded one =
                    m_.add(fresh, m_.mul(update, m_.sub(s.h_before[size(i)], fresh)));
                const Bounded two = m_.add(m_.mul(m_.sub({1, 0}, update), fresh),
                                           m_.mul(update, s.h_before[size(i)]));
                return {one.value, std::max(one.error, two.error)};
            }
        }
    }

    Bounds backward(std::int64_t layer, const Bounds& x, const Bounds& dy) {
        const std::int64_t columns = p_.layer_columns(layer), width = n_.hidden * n_.directions();
        Bounds dx(size(n_.steps * n_.batch * columns));
        for (std::int64_t side = 0; side < n_.directions(); ++side) {
            const std::int64_t direction = at(layer, side);
            const std::int64_t first = direction * n_.batch * n_.hidden;
            Bounds dh(size(n_.batch * n_.hidden)), dc = dh;
            for (std::int64_t i = 0; with_last_ && i < n_.batch * n_.hidden; ++i) {
                dh[size(i)] = {p_.dh_n.get(first + i), 0};
                if (p_.lstm()) dc[size(i)] = {p_.dc_n.get(first + i), 0};
            }
            // Gradients with respect to the gates' sums over x and over h, (steps, batch, gates *
            // hidden).
            Bounds dgx(size(n_.steps * n_.batch * gates_ * n_.hidden)), dgh = dgx;
            for (std::int64_t step = n_.steps - 1; step >= 0; --step) {
                const Step& s = steps_[size(direction)][size(step)];
                Bounds straight(dh.size());
                for (std::int64_t i = 0; i < n_.batch * n_.hidden; ++i) {
                    const std::int64_t b = i / n_.hidden, j = i % n_.hidden;
                    const std::int64_t row = time(side, step) * n_.batch + b;
                    const Bounded d =
                        m_.add(dy[size(row * width + side * n_.hidden + j)], dh[size(i)]);
                    Bounds by_x, by_h;
                    gradient(s, i, d, dc[size(i)], straight[size(i)], by_x, by_h);
                    for (std::int64_t g = 0; g < gates_; ++g) {
                        const std::size_t to = size((row * gates_ + g) * n_.hidden + j);
                        dgx[to] = m_.stored(by_x[size(g)]);
                        dgh[to] = m_.stored(by_h[size(g)]);
                    }
                }
                for (std::int64_t i = 0; i < n_.batch * n_.hidden; ++i) {
                    const std::int64_t row = time(side, step) * n_.batch + i / n_.hidden;
                    dh[size(i)] = m_.stored(m_.add(
                        straight[size(i)], back(direction, 1, dgh, row, n_.hidden, i % n_.hidden)));
                }
            }
            for (std::int64_t row = 0; row < n_.steps * n_.batch; ++row)
                for (std::int64_t k = 0; k < columns; ++k) {
                    Bounded& to = dx[size(row * columns + k)];
                    to = m_.stored(m_.add(to, back(direction, 0, dgx, row, columns, k)));
                }
            for (std::int64_t i = 0; i < n_.batch * n_.hidden; ++i) {
                r_.dh0[size(first + i)] = dh[size(i)];
                r_.dc0[size(first + i)] = dc[size(i)];
            }
            weights(direction, 0, dgx, x, columns);
            Bounds before;
            for (std::int64_t t = 0; t < n_.steps; ++t) {
                const Step& s = steps_[size(direction)][size(time(side, t))];
                before.insert(before.end(), s.h_before.begin(), s.h_before.end());
            }
            weights(direction, 1, dgh, before, n_.hidden);
        }
        return dx;
    }
    /// The gradient of one cell. dc becomes the gradient of the previous c, and `straight` the part
    /// of the previous h's gradient that does not go through a matrix product.
    void gradient(const Step& s, std::int64_t i, Bounded dh, Bounded& dc, Bounded& straight,
                  Bounds& by_x, Bounds& by_h) const {
        const auto gate = [&](std::int64_t g) { return s.gates[size(i * gates_ + g)]; };
        const auto rest = [&](Bounded v) { return m_.sub({1, 0}, v); };
        const auto bend = [&](Bounded v) { return m_.sub({1, 0}, m_.mul(v, v)); };
        const auto slope = [&](Bounded v) { return m_.mul(v, rest(v)); };
        if (n_.cell == RecurrentCell::rnn_tanh) {
            by_x = {m_.mul(dh, bend(gate(0)))};
        } else if (n_.cell == RecurrentCell::rnn_relu) {
            by_x = {m_.if_positive(gate(0), dh)};
        } else if (n_.cell == RecurrentCell::lstm) {
            const Bounded bent = m_.tanh(s.c[size(i)]);
            const Bounded d = m_.add(dc, m_.mul(m_.mul(dh, gate(3)), bend(bent)));
            by_x = {m_.mul(m_.mul(d, gate(2)), slope(gate(0))),
                    m_.mul(m_.mul(d, s.c_before[size(i)]), slope(gate(1))),
                    m_.mul(m_.mul(d, gate(0)), bend(gate(2))),
                    m_.mul(m_.mul(dh, bent), slope(gate(3)))};
            dc = m_.stored(m_.mul(d, gate(1)));
        } else {
            const Bounded d = m_.mul(m_.mul(dh, rest(gate(1))), bend(gate(2)));
            by_x = {m_.mul(m_.mul(d, s.hidden_side[size(i)]), slope(gate(0))),
                    m_.mul(m_.mul(dh, m_.sub(s.h_before[size(i)], gate(2))), slope(gate(1))), d};
            straight = m_.stored(m_.mul(dh, gate(1)));
            by_h = {by_x[0], by_x[1], m_.mul(d, gate(0))};
            return;
        }
        by_h = by_x;
    }
    /// Row `row` of the gates' gradients times column k of the weights.
    Bounded back(std::int64_t direction, std::int64_t kind, const Bounds& d, std::int64_t row,
                 std::int64_t columns, std::int64_t k) const {
        BoundedMath::Sum sum(m_);
        for (std::int64_t r = 0; r < gates_ * n_.hidden; ++r)
            sum.add(d[size(row * gates_ * n_.hidden + r)],
                    weight(direction, kind, r * columns + k));
        return m_.stored(sum.get());
    }
    void weights(std::int64_t direction, std::int64_t kind, const Bounds& d, const Bounds& x,
                 std::int64_t columns) {
        const std::int64_t rows = gates_ * n_.hidden;
        for (std::int64_t r = 0; r < rows; ++r) {
            BoundedMath::Sum bias(m_);
            for (std::int64_t k = 0; k < columns; ++k) {
                BoundedMath::Sum sum(m_);
                for (std::int64_t row = 0; row < n_.steps * n_.batch; ++row)
                    sum.add(d[size(row * rows + r)], x[size(row * columns + k)]);
                r_.d_params[param(direction, kind)][size(r * columns + k)] = sum.get();
            }
            for (std::int64_t row = 0; n_.biases && row < n_.steps * n_.batch; ++row)
                bias.add(d[size(row * rows + r)]);
            if (n_.biases) r_.d_params[param(direction, kind + 2)][size(r)] = bias.get();
        }
    }

    const RecurrentNetworkProblem& p_;
    const RecurrentNetwork& n_;
    BoundedMath m_;
    std::int64_t gates_;
    bool with_last_;
    std::vector<std::vector<Step>> steps_;  // by direction, then in the order of the forward pass
    RecurrentNetworkResults r_;
};

inline void expect_within(const Buffer& got, const Bounds& bounds, const char* what) {
    ASSERT_EQ(got.size(), static_cast<std::int64_t>(bounds.size())) << what;
    for (std::int64_t i = 0; i < got.size(); ++i)
        ASSERT_TRUE(within(got.get(i), bounds[static_cast<std::size_t>(i)], got.dtype()))
            << what << " element " << i;
}

}  // namespace kernels::test
