#include "ops/recurrent/recurrent.h"

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/linalg/linear.h"
#include "ops/pointwise/dropout.h"
#include "ops/recurrent/recurrent_layer.h"
#include "ops/recurrent/recurrent_network.h"
#include "ops/shape/view.h"
#include "tensor/check.h"

namespace engine {
namespace {

using kernels::RecurrentCell;

/// A call whose arguments have been cast.
struct Network {
    const Op& info;
    RecurrentCell cell;
    const RecurrentOptions& options;
    Tensor x;
    TensorList hx, params;

    int directions() const { return options.bidirectional ? 2 : 1; }
    std::size_t stride() const { return options.has_biases ? 4 : 2; }
    bool packed() const { return !options.batch_sizes.empty(); }
    bool drops() const { return options.train && options.dropout > 0 && options.num_layers > 1; }
    [[noreturn]] void refuse(const std::string& what) const {
        throw Error(ErrorCode::value, std::string(info.name) + ": " + what);
    }
};

void check_types(const Network& n) {
    for (const auto& t : n.hx) one_type(n.info, {n.x, t});
    for (const auto& t : n.params) one_type(n.info, {n.x, t});
}

void check_packed(const Network& n) {
    std::int64_t rows = 0, before = n.options.batch_sizes.front();
    for (const std::int64_t count : n.options.batch_sizes) {
        if (count < 1 || count > before) n.refuse("batch_sizes must be positive and not rise");
        before = count;
        rows += count;
    }
    check_rank(n.info, n.x, 2);
    if (rows != n.x.size(0)) {
        n.refuse("batch_sizes sum to " + std::to_string(rows) + ", the data has shape " +
                 to_string(n.x.shape()));
    }
}

void check_counts(const Network& n) {
    const std::size_t states = n.cell == RecurrentCell::lstm ? 2 : 1;
    if (n.hx.size() != states) n.refuse("takes " + std::to_string(states) + " initial states");
    const auto wanted =
        n.stride() * static_cast<std::size_t>(n.options.num_layers * n.directions());
    if (n.options.num_layers < 1 || n.params.size() != wanted) {
        n.refuse("takes " + std::to_string(wanted) + " weights, not " +
                 std::to_string(n.params.size()) + "; projections (proj_size) are not there");
    }
    if (n.drops() && !n.options.random)
        n.refuse("dropout between layers needs a stream of random numbers");
}

void check_state_shapes(const Network& n, std::int64_t batch) {
    const Tensor& h0 = n.hx[0];
    check_rank(n.info, h0, 3);
    const std::int64_t hidden = h0.size(2), directions = n.directions();
    const std::int64_t rows = gates_of(n.cell) * hidden;
    for (const auto& t : n.hx) {
        check_shapes(n.info, t.shape() == Shape{n.options.num_layers * directions, batch, hidden},
                     t, n.x);
    }
    for (std::size_t i = 0; i < n.params.size(); ++i) {
        const std::size_t kind = i % n.stride();
        const bool first = i < n.stride() * static_cast<std::size_t>(directions);
        const std::int64_t in = first ? n.x.shape().back() : hidden * directions;
        const Shape wanted = kind == 0   ? Shape{rows, in}
                             : kind == 1 ? Shape{rows, hidden}
                                         : Shape{rows};
        check_shapes(n.info, n.params[i].shape() == wanted, n.params[i], h0);
    }
}

/// (layers * directions, batch, hidden) of one layer and direction: (batch, hidden).
Tensor state_of(const Tensor& states, std::int64_t at) {
    return reshape(narrow(states, 0, at, 1), {states.size(1), states.size(2)});
}

Tensor stacked(const TensorList& states) {
    TensorList rows;
    for (const auto& t : states) rows.push_back(reshape(t, {1, t.size(0), t.size(1)}));
    return rows.size() == 1 ? rows[0] : cat(rows, 0);
}

/// All layers over the rows of all time steps: the last one's outputs (rows, hidden * directions),
/// h_n and c_n.
TensorList run_layers(const Network& n, const Tensor& rows,
                      const std::vector<std::int64_t>& batch_sizes) {
    Tensor now = rows;
    TensorList last_h, last_c;
    std::uint64_t offset = n.options.random_offset;
    for (std::int64_t layer = 0; layer < n.options.num_layers; ++layer) {
        TensorList sides;
        for (int side = 0; side < n.directions(); ++side) {
            const std::int64_t at = layer * n.directions() + side;
            const Tensor* p = &n.params[static_cast<std::size_t>(at) * n.stride()];
            const Tensor b_ih = n.options.has_biases ? p[2] : Tensor();
            const Tensor b_hh = n.options.has_biases ? p[3] : Tensor();
            const TensorList made =
                recurrent_layer({n.cell, batch_sizes, side == 1},
                                {linear(now, p[0], b_ih), state_of(n.hx[0], at),
                                 n.hx.size() > 1 ? state_of(n.hx[1], at) : Tensor(), p[1], b_hh});
            sides.push_back(made[0]);
            last_h.push_back(made[1]);
            if (made.size() > 2) last_c.push_back(made[2]);
        }
        now = sides.size() == 1 ? sides[0] : cat(sides, 1);
        if (n.drops() && layer + 1 < n.options.num_layers) {
            const RandomSource& random = *n.options.random;
            now = dropout(now, n.options.dropout, random, offset, std::ssize(batch_sizes));
            offset += static_cast<std::uint64_t>(random.share.of_all(now.numel()));
        }
    }
    TensorList out{now, stacked(last_h)};
    if (!last_c.empty()) out.push_back(stacked(last_c));
    return out;
}

/// Sequences of equal length: one node if the device's library supports the network, else layer by
/// layer. Dropout between layers is ours, so that masks are the same everywhere
/// (decisions.md#randomness, D7).
TensorList run_even(const Network& n, const Tensor& rows, std::int64_t steps, std::int64_t batch) {
    const std::vector<std::int64_t> sizes(static_cast<std::size_t>(steps), batch);
    if (n.drops()) return run_layers(n, rows, sizes);
    const kernels::RecurrentNetwork told{.cell = n.cell,
                                         .dtype = rows.dtype(),
                                         .steps = steps,
                                         .batch = batch,
                                         .input = rows.size(1),
                                         .hidden = n.hx[0].size(2),
                                         .layers = n.options.num_layers,
                                         .bidirectional = n.options.bidirectional,
                                         .biases = n.options.has_biases};
    TensorList inputs{rows, n.hx[0], n.hx.size() > 1 ? n.hx[1] : Tensor()};
    inputs.insert(inputs.end(), n.params.begin(), n.params.end());
    const auto by_layers = [&info = n.info, cell = n.cell, options = n.options,
                            sizes](const TensorList& in) {
        TensorList hx{in[1]};
        if (in[2].defined()) hx.push_back(in[2]);
        return run_layers({info, cell, options, in[0], hx, {in.begin() + 3, in.end()}}, in[0],
                          sizes);
    };
    if (const auto made = recurrent_network(told, inputs, by_layers)) return *made;
    return run_layers(n, rows, sizes);
}

TensorList run_network(const Op& info, RecurrentCell cell, const Tensor& x,
                       const TensorList& hx, const TensorList& params,
                       const RecurrentOptions& options) {
    const Network n{info, cell, options, x, hx, params};
    check_types(n);
    check_counts(n);
    const NoAutocast inside(n.x.device().kind);
    if (n.packed()) {
        check_packed(n);
        check_state_shapes(n, options.batch_sizes.front());
        return run_layers(n, n.x, options.batch_sizes);
    }
    check_rank(info, n.x, 3);
    const Tensor by_time = options.batch_first ? transpose(n.x, 0, 1) : n.x;
    const std::int64_t steps = by_time.size(0), batch = by_time.size(1);
    if (steps == 0 || batch == 0) n.refuse("the sequence is empty: " + to_string(n.x.shape()));
    check_state_shapes(n, batch);
    TensorList out = run_even(n, reshape(by_time, {steps * batch, by_time.size(2)}), steps, batch);
    out[0] = reshape(out[0], {steps, batch, out[0].size(1)});
    if (options.batch_first) out[0] = transpose(out[0], 0, 1);
    return out;
}

TensorList listed_states(const Tensor& h0) { return {h0}; }
const TensorList& listed_states(const TensorList& hx) { return hx; }

template <typename States>
TensorList network(const Op& op, RecurrentCell cell, const Tensor& x, const States& hx,
                   const TensorList& params, const RecurrentOptions& options) {
    return op.call(x, hx, params, options,
                   [&](const Tensor& x1, const States& hx1, const TensorList& params1) {
                       return run_network(op, cell, x1, listed_states(hx1), params1, options);
                   });
}

}  // namespace

TensorList rnn_tanh(const Tensor& x, const Tensor& h0, const TensorList& params,
                    const RecurrentOptions& options) {
    return network(rnn_tanh_op, RecurrentCell::rnn_tanh, x, h0, params, options);
}
TensorList rnn_relu(const Tensor& x, const Tensor& h0, const TensorList& params,
                    const RecurrentOptions& options) {
    return network(rnn_relu_op, RecurrentCell::rnn_relu, x, h0, params, options);
}
TensorList lstm(const Tensor& x, const TensorList& hx, const TensorList& params,
                const RecurrentOptions& options) {
    return network(lstm_op, RecurrentCell::lstm, x, hx, params, options);
}
TensorList gru(const Tensor& x, const Tensor& h0, const TensorList& params,
               const RecurrentOptions& options) {
    return network(gru_op, RecurrentCell::gru, x, h0, params, options);
}

}  // namespace engine
