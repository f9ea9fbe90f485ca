#pragma once

#include <string>

#include "kernels/recurrent_network_reference.h"
#include "ops/recurrent/recurrent.h"
#include "tensor/tape.h"

/// Converts a recurrent problem of the kernels' tests to a call of the op on the tests' default
/// device.
namespace engine::test {

using kernels::RecurrentCell;
using kernels::RecurrentNetwork;
using kernels::test::Buffer;
using kernels::test::RecurrentNetworkProblem;
using kernels::test::RecurrentNetworkReference;
using kernels::test::RecurrentNetworkResults;

inline Tensor tensor_of(const Buffer& b, const Shape& shape) {
    return Tensor::of(b.values(), shape, b.dtype()).set_requires_grad(true);
}
inline Buffer buffer_of(const Tensor& t) { return Buffer(t.dtype(), t.values()); }

/// The arguments of the op for a problem.
struct ProblemCall {
    explicit ProblemCall(const RecurrentNetworkProblem& problem) : p(problem) {
        const RecurrentNetwork& n = p.n;
        options.num_layers = n.layers;
        options.bidirectional = n.bidirectional;
        options.has_biases = n.biases;
        x = tensor_of(p.x, {n.steps, n.batch, n.input});
        const Shape state{n.layers * n.directions(), n.batch, n.hidden};
        hx.push_back(tensor_of(p.h0, state));
        if (p.lstm()) hx.push_back(tensor_of(p.c0, state));
        const std::int64_t rows = gates_of(n.cell) * n.hidden;
        for (const Buffer& b : p.params)
            params.push_back(
                tensor_of(b, b.size() == rows ? Shape{rows} : Shape{rows, b.size() / rows}));
    }

    TensorList run() const {
        switch (p.n.cell) {
            case RecurrentCell::rnn_tanh:
                return rnn_tanh(x, hx[0], params, options);
            case RecurrentCell::rnn_relu:
                return rnn_relu(x, hx[0], params, options);
            case RecurrentCell::gru:
                return gru(x, hx[0], params, options);
            default:
                return lstm(x, hx, params, options);
        }
    }
    TensorList leaves() const {
        TensorList all{x};
        all.insert(all.end(), hx.begin(), hx.end());
        all.insert(all.end(), params.begin(), params.end());
        return all;
    }
    TensorList seeds() const {
        TensorList all{tensor_of(p.dy, {p.n.steps, p.n.batch, p.n.hidden * p.n.directions()}),
                       tensor_of(p.dh_n, hx[0].shape())};
        if (p.lstm()) all.push_back(tensor_of(p.dc_n, hx[0].shape()));
        for (auto& t : all) t = t.detach();
        return all;
    }

    const RecurrentNetworkProblem& p;
    RecurrentOptions options;
    Tensor x;
    TensorList hx, params;
};

inline void expect_recurrent_outputs(const TensorList& got, const RecurrentNetworkResults& r) {
    expect_within(buffer_of(got[0]), r.y, "y");
    expect_within(buffer_of(got[1]), r.h_n, "h_n");
    if (got.size() > 2) expect_within(buffer_of(got[2]), r.c_n, "c_n");
}
inline void expect_recurrent_gradients(const TensorList& got, const RecurrentNetworkResults& r) {
    const std::size_t states = got.size() - 1 - r.d_params.size();
    expect_within(buffer_of(got[0]), r.dx, "dx");
    expect_within(buffer_of(got[1]), r.dh0, "dh0");
    if (states == 2) expect_within(buffer_of(got[2]), r.dc0, "dc0");
    for (std::size_t i = 0; i < r.d_params.size(); ++i)
        expect_within(buffer_of(got[1 + states + i]), r.d_params[i],
                      ("weight " + std::to_string(i)).c_str());
}

}  // namespace engine::test
