#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "kernels/device_array.h"
#include "kernels/recurrent_network_reference.h"

namespace kernels::test {

/// A problem on the device: its operands, its results, and the memory kept between the passes.
class RecurrentNetworkRun {
public:
    RecurrentNetworkRun(const RecurrentNetworkProblem& problem, const RecurrentSpaces& spaces)
        : p(problem),
          x(p.x),
          h0(p.h0),
          c0(p.c0),
          dy(p.dy),
          dh_n(p.dh_n),
          dc_n(p.dc_n),
          y(like(p.dy)),
          h_n(like(p.h0)),
          c_n(like(p.h0)),
          dx(like(p.x)),
          dh0(like(p.h0)),
          dc0(like(p.h0)),
          weights(DType::u8, static_cast<std::int64_t>(spaces.weights)),
          d_weights(DType::u8, static_cast<std::int64_t>(spaces.weights)),
          reserve(DType::u8, static_cast<std::int64_t>(spaces.reserve)) {
        for (const Buffer& w : p.params) {
            params.push_back(std::make_unique<DeviceBuffer>(w));
            d_params.push_back(std::make_unique<DeviceBuffer>(w.dtype(), w.size()));
            param_pointers.push_back(params.back()->array().data);
            d_param_pointers.push_back(d_params.back()->array().data);
        }
    }

    bool forward() {
        const bool lstm = p.lstm();
        return cuda::recurrent_network_forward(p.n,
                                               {.x = at(x),
                                                .h0 = at(h0),
                                                .c0 = lstm ? at(c0) : nullptr,
                                                .params = param_pointers,
                                                .y = at(y),
                                                .h_n = at(h_n),
                                                .c_n = lstm ? at(c_n) : nullptr,
                                                .weights = at(weights),
                                                .reserve = p.n.training ? at(reserve) : nullptr},
                                               {});
    }
    bool backward(bool with_last_gradients) {
        const bool lstm = p.lstm(), last = with_last_gradients;
        return cuda::recurrent_network_backward(p.n,
                                                {.x = at(x),
                                                 .h0 = at(h0),
                                                 .c0 = lstm ? at(c0) : nullptr,
                                                 .y = at(y),
                                                 .dy = at(dy),
                                                 .dh_n = last ? at(dh_n) : nullptr,
                                                 .dc_n = last && lstm ? at(dc_n) : nullptr,
                                                 .weights = at(weights),
                                                 .reserve = at(reserve),
                                                 .dx = at(dx),
                                                 .dh0 = at(dh0),
                                                 .dc0 = lstm ? at(dc0) : nullptr,
                                                 .d_weights = at(d_weights),
                                                 .d_params = d_param_pointers},
                                                {});
    }

    void expect_outputs(const RecurrentNetworkResults& r) const {
        expect_within(y.host(), r.y, "y");
        expect_within(h_n.host(), r.h_n, "h_n");
        if (p.lstm()) expect_within(c_n.host(), r.c_n, "c_n");
    }
    void expect_gradients(const RecurrentNetworkResults& r) const {
        expect_within(dx.host(), r.dx, "dx");
        expect_within(dh0.host(), r.dh0, "dh0");
        if (p.lstm()) expect_within(dc0.host(), r.dc0, "dc0");
        for (std::size_t i = 0; i < d_params.size(); ++i)
            expect_within(d_params[i]->host(), r.d_params[i],
                          ("weight " + std::to_string(i)).c_str());
    }
    /// The bytes of all results.
    std::vector<std::vector<unsigned char>> bytes() const {
        std::vector<std::vector<unsigned char>> out;
        for (const DeviceBuffer* b : {&y, &h_n, &dx, &dh0}) out.push_back(b->host().bytes());
        for (const auto& d : d_params) out.push_back(d->host().bytes());
        return out;
    }

    const RecurrentNetworkProblem& p;
    DeviceBuffer x, h0, c0, dy, dh_n, dc_n, y, h_n, c_n, dx, dh0, dc0, weights, d_weights, reserve;
    std::vector<std::unique_ptr<DeviceBuffer>> params, d_params;
    std::vector<const void*> param_pointers;
    std::vector<void*> d_param_pointers;

private:
    static DeviceBuffer like(const Buffer& b) { return DeviceBuffer(b.dtype(), b.size()); }
    static void* at(const DeviceBuffer& b) { return b.array().data; }
};

/// Calls f for networks of every cell and form, in every type.
template <class F>
void for_each_recurrent_network(const F& f) {
    for (const auto cell : {RecurrentCell::rnn_tanh, RecurrentCell::rnn_relu, RecurrentCell::lstm,
                            RecurrentCell::gru})
        for (const DType dtype : floating)
            for (const std::int64_t layers : {1, 2, 3})
                for (const bool both : {false, true})
                    for (const bool biases : {true, false})
                        f(RecurrentNetwork{.cell = cell,
                                           .dtype = dtype,
                                           .steps = 5 - layers,
                                           .batch = 1 + layers,
                                           .input = 3,
                                           .hidden = layers == 1 ? 5 : 4,
                                           .layers = layers,
                                           .bidirectional = both,
                                           .biases = biases});
}

/// Compares both passes with f64 loops. `last`: with gradients of the last states as well.
inline void expect_the_references_results(const RecurrentNetwork& n, const RecurrentSpaces& spaces,
                                          bool last) {
    const RecurrentNetworkProblem problem(n);
    const RecurrentNetworkResults expected = RecurrentNetworkReference(problem, last).run();
    RecurrentNetworkRun run(problem, spaces);
    ASSERT_TRUE(run.forward());
    run.expect_outputs(expected);
    ASSERT_TRUE(run.backward(last));
    run.expect_gradients(expected);
}

}  // namespace kernels::test
