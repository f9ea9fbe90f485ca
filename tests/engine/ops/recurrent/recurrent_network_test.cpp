#include "ops/recurrent/recurrent_network.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "autograd/backward.h"
#include "gradcheck.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "recurrent_call.h"
#include "tensor/observer.h"

// Whole networks on the tests' default device: on a GPU by its library if that supports them, on
// the CPU layer by layer.
namespace engine {
namespace {

using namespace test;
using Call = test::ProblemCall;

bool on_gpu() { return default_device().kind == Device::Kind::cuda; }

class Names : public OpObserver {
public:
    void on_op(const OpEvent& event) override { seen.emplace(event.info->name); }
    std::set<std::string> seen;
};

constexpr RecurrentCell cells[] = {RecurrentCell::rnn_tanh, RecurrentCell::rnn_relu,
                                   RecurrentCell::lstm, RecurrentCell::gru};

/// The bounds hold for both implementations, so the two agree within them.
TEST(RecurrentNetwork, ValuesAndGradientsAreWithinTheirBounds) {
    for (const auto cell : cells)
        for (const DType dtype : kernels::test::floating)
            for (const std::int64_t layers : {1, 2})
                for (const bool both : {false, true}) {
                    const RecurrentNetworkProblem problem({.cell = cell,
                                                           .dtype = dtype,
                                                           .steps = 4,
                                                           .batch = 3,
                                                           .input = 5,
                                                           .hidden = 4,
                                                           .layers = layers,
                                                           .bidirectional = both,
                                                           .biases = layers == 1 || both});
                    SCOPED_TRACE(kernels::test::to_string(problem.n));
                    const auto expected = RecurrentNetworkReference(problem, true).run();
                    const Call call(problem);
                    const TensorList outputs = call.run();
                    expect_recurrent_outputs(outputs, expected);
                    expect_recurrent_gradients(grad(outputs, call.leaves(), call.seeds()),
                                               expected);
                }
}

TEST(RecurrentNetwork, TakesAnUndefinedGradientForZero) {
    const RecurrentNetworkProblem problem(
        {.cell = RecurrentCell::lstm, .steps = 3, .batch = 2, .input = 3, .hidden = 4});
    const Call call(problem);
    const TensorList outputs = call.run(), leaves = call.leaves();
    const TensorList seeds = call.seeds();
    expect_recurrent_gradients(
        grad({&outputs[0], 1}, leaves, {&seeds[0], 1}, {.retain_graph = true}),
        RecurrentNetworkReference(problem, false).run());
    // With a gradient for h_n only: the same as zeros for the others.
    TensorList rest = seeds;
    rest[0] = Tensor::zeros(seeds[0].shape(), seeds[0].dtype());
    rest[2] = Tensor::zeros(seeds[2].shape(), seeds[2].dtype());
    const TensorList alone =
        grad({&outputs[1], 1}, leaves, {&seeds[1], 1}, {.retain_graph = true}, true);
    const TensorList zeros = grad(outputs, leaves, rest);
    for (std::size_t i = 0; i < leaves.size(); ++i)
        EXPECT_EQ(alone[i].values(), zeros[i].values()) << i;
}

TEST(RecurrentNetwork, AKeptGraphGivesTheSameGradientsAgain) {
    for (const auto cell : cells) {
        const RecurrentNetworkProblem problem(
            {.cell = cell, .dtype = DType::f16, .steps = 3, .batch = 2, .input = 3, .hidden = 4});
        const Call call(problem);
        const TensorList outputs = call.run(), leaves = call.leaves();
        const TensorList first = grad(outputs, leaves, call.seeds(), {.retain_graph = true});
        const TensorList recorded = grad(outputs, leaves, call.seeds(), {.create_graph = true});
        const TensorList last = grad(outputs, leaves, call.seeds());
        for (std::size_t i = 0; i < first.size(); ++i) {
            EXPECT_EQ(recorded[i].values(), first[i].values()) << i;
            EXPECT_EQ(last[i].values(), first[i].values()) << i;
        }
    }
}

TEST(RecurrentNetwork, SecondDerivativesOfTwoLayersBothWaysAgreeWithDifferences) {
    for (const auto cell : {RecurrentCell::lstm, RecurrentCell::gru}) {
        const RecurrentNetworkProblem problem({.cell = cell,
                                               .dtype = DType::f64,
                                               .steps = 2,
                                               .batch = 1,
                                               .input = 2,
                                               .hidden = 2,
                                               .layers = 2,
                                               .bidirectional = true});
        const Call call(problem);
        const std::size_t states = call.hx.size();
        const auto all = [&](const TensorList& in) {
            Call again = call;
            const auto params = in.begin() + 1 + static_cast<std::ptrdiff_t>(states);
            again.x = in[0];
            again.hx = {in.begin() + 1, params};
            again.params = {params, in.end()};
            TensorList flat;
            for (const auto& t : again.run()) flat.push_back(reshape(t, {t.numel()}));
            return cat(flat, 0);
        };
        expect_second_gradients(all, call.leaves());
    }
}

TEST(RecurrentNetwork, TakesOperandsThatBeginAnywhere) {
    for (const DType dtype : {DType::f16, DType::f32}) {
        const RecurrentNetworkProblem problem({.cell = RecurrentCell::gru,
                                               .dtype = dtype,
                                               .steps = 3,
                                               .batch = 1,
                                               .input = 3,
                                               .hidden = 5});
        Call call(problem);
        const auto expected = RecurrentNetworkReference(problem, true).run();
        const auto shifted = [](const Tensor& t) {
            const Tensor flat = reshape(t.detach(), {t.numel()});
            const Tensor longer = cat({Tensor::zeros({1}, t.dtype()), flat}, 0);
            return reshape(narrow(longer, 0, 1, t.numel()), t.shape())
                .detach()
                .set_requires_grad(true);
        };
        call.x = shifted(call.x);
        call.hx[0] = shifted(call.hx[0]);
        for (auto& w : call.params) w = shifted(w);
        const TensorList outputs = call.run();
        expect_recurrent_outputs(outputs, expected);
        expect_recurrent_gradients(grad(outputs, call.leaves(), call.seeds()), expected);
    }
}

TEST(RecurrentNetwork, GoesByTheLibraryOnAGpuButForWhatItMayNotDo) {
    const auto ops_of = [](RecurrentCell cell, const std::function<void(Call&)>& change) {
        const RecurrentNetworkProblem problem(
            {.cell = cell, .steps = 3, .batch = 2, .input = 3, .hidden = 4, .layers = 2});
        Call call(problem);
        change(call);
        Names names;
        const ObserverScope scope(names);
        const TensorList outputs = call.run();
        backward(sum(outputs[0]));
        return names.seen;
    };
    const auto nothing = [](Call&) {};
    const auto by_library = [](const std::set<std::string>& seen) {
        EXPECT_NE(seen.contains("recurrent_network"), seen.contains("recurrent_layer"));
        EXPECT_EQ(seen.contains("recurrent_network"), seen.contains("recurrent_network_backward"));
        return seen.contains("recurrent_network");
    };
    for (const auto cell : {RecurrentCell::rnn_tanh, RecurrentCell::lstm, RecurrentCell::gru}) {
        EXPECT_EQ(by_library(ops_of(cell, nothing)), on_gpu());
        EXPECT_EQ(by_library(ops_of(cell,
                                    [](Call& c) {
                                        c.options.batch_first = true;
                                        c.x = tensor_of(c.p.x, {2, 3, 3});
                                    })),
                  on_gpu());
    }
    // Not by the library: relu, whose treatment of NaN is unknown; sequences of several lengths;
    // and our own dropout masks.
    EXPECT_FALSE(by_library(ops_of(RecurrentCell::rnn_relu, nothing)));
    EXPECT_FALSE(by_library(ops_of(RecurrentCell::lstm, [](Call& c) {
        c.options.batch_sizes = {2, 2, 2};
        c.x = tensor_of(c.p.x, {6, 3});
    })));
    EXPECT_FALSE(by_library(ops_of(RecurrentCell::gru, [](Call& c) {
        c.options.train = true;
        c.options.dropout = 0.5;
        c.options.random = RandomStream(5, StreamId::dropout);
    })));
    // Outside of training nothing is dropped.
    EXPECT_EQ(by_library(ops_of(RecurrentCell::gru, [](Call& c) { c.options.dropout = 0.5; })),
              on_gpu());
}

}  // namespace
}  // namespace engine
