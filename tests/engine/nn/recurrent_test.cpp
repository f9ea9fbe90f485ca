#include "nn/recurrent.h"

#include <gtest/gtest.h>

#include <cmath>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "kernels/recurrent_network_reference.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "support/here.h"
#include "support/module_log.h"

namespace engine {
namespace {

constexpr RecurrentKind kinds[] = {RecurrentKind::rnn_tanh, RecurrentKind::rnn_relu,
                                   RecurrentKind::lstm, RecurrentKind::gru};

std::vector<std::string> names_of(const TensorRegistry& registry) {
    std::vector<std::string> names;
    for (const auto& p : registry.parameters) names.push_back(p.name);
    return names;
}

Tensor recurrent_ramp(const Shape& shape) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < shape.numel(); ++i)
        values.push_back(0.1 * static_cast<double>(i % 13) - 0.6);
    return Tensor::of(values, shape);
}

kernels::RecurrentCell cell_of(RecurrentKind kind) {
    switch (kind) {
        case RecurrentKind::rnn_tanh:
            return kernels::RecurrentCell::rnn_tanh;
        case RecurrentKind::rnn_relu:
            return kernels::RecurrentCell::rnn_relu;
        case RecurrentKind::gru:
            return kernels::RecurrentCell::gru;
        default:
            return kernels::RecurrentCell::lstm;
    }
}

/// The outputs of net(x) from zero states, x (steps, batch, in), with bounds that hold for any
/// order of computation.
kernels::test::Bounds bounds_of(const Recurrent& net, const Tensor& x) {
    kernels::test::RecurrentNetworkProblem problem({.cell = cell_of(net.kind),
                                                    .steps = x.size(0),
                                                    .batch = x.size(1),
                                                    .input = x.size(2),
                                                    .hidden = net.sizes.hidden,
                                                    .bidirectional = net.sizes.bidirectional});
    const auto buffer = [](const Tensor& t) {
        return kernels::test::Buffer(t.dtype(), t.values());
    };
    problem.x = buffer(x);
    problem.h0 = problem.c0 = kernels::test::Buffer(x.dtype(), problem.states());
    problem.params.clear();
    for (const auto& w : net.params) problem.params.push_back(buffer(w));
    return kernels::test::RecurrentNetworkReference(problem, false).run().y;
}

/// A GPU's library may compute in another order than layer by layer. Then the results agree within
/// `bounds`; otherwise they are equal bit for bit.
void expect_same(const Tensor& a, const Tensor& b, const kernels::test::Bounds& bounds) {
    if (default_device().kind == Device::Kind::cpu) {
        EXPECT_EQ(a.values(), b.values());
    }
    for (const Tensor* t : {&a, &b})
        expect_within(kernels::test::Buffer(t->dtype(), t->values()), bounds, "y");
}

TEST(Recurrent, LayersAndCellsRunInTheirModule) {
    for (const RecurrentKind kind : kinds) {
        TensorRegistry registry(1, default_device());
        const Recurrent layer(registry, "rnn", kind, {.in = 3, .hidden = 4});
        const RecurrentCell cell(registry, "cell", kind, 3, 4);
        ModuleLog log;
        const ObserverScope attached(log);
        (void)layer(recurrent_ramp({5, 2, 3}));
        (void)layer(recurrent_ramp({5, 3}));
        (void)cell(recurrent_ramp({2, 3}));
        EXPECT_EQ(log.forward, (std::vector<std::string>{"rnn", "cell"}));
    }
}

TEST(RecurrentLayers, HavePyTorchsNamesInItsOrder) {
    TensorRegistry registry(1, default_device());
    const Recurrent lstm(registry, "lstm", RecurrentKind::lstm,
                         {.in = 3, .hidden = 4, .num_layers = 2, .bidirectional = true});
    const auto names = names_of(registry);
    ASSERT_EQ(names.size(), 16u);
    const std::vector<std::string> first(names.begin(), names.begin() + 9);
    EXPECT_EQ(first,
              (std::vector<std::string>{"lstm.weight_ih_l0", "lstm.weight_hh_l0", "lstm.bias_ih_l0",
                                        "lstm.bias_hh_l0", "lstm.weight_ih_l0_reverse",
                                        "lstm.weight_hh_l0_reverse", "lstm.bias_ih_l0_reverse",
                                        "lstm.bias_hh_l0_reverse", "lstm.weight_ih_l1"}));
    EXPECT_EQ(lstm.params[0].shape(), (Shape{16, 3}));
    EXPECT_EQ(lstm.params[8].shape(), (Shape{16, 8}));
    TensorRegistry cells(1, default_device());
    const RecurrentCell cell(cells, "cell", RecurrentKind::gru, 3, 4);
    EXPECT_EQ(names_of(cells), (std::vector<std::string>{"cell.weight_ih", "cell.weight_hh",
                                                         "cell.bias_ih", "cell.bias_hh"}));
    EXPECT_EQ(cell.weights.w_hh.shape(), (Shape{12, 4}));
}

TEST(RecurrentLayers, DrawTheirWeightsWithinTheReciprocalRootOfTheHiddenSize) {
    TensorRegistry registry(7, default_device());
    const Recurrent gru(registry, "gru", RecurrentKind::gru, {.in = 20, .hidden = 16});
    for (const auto& p : registry.parameters) {
        EXPECT_TRUE(p.autocast_low) << p.name;
        double largest = 0;
        for (const double w : p.tensor.values()) largest = std::max(largest, std::abs(w));
        EXPECT_LE(largest, 0.25) << p.name;
        EXPECT_GT(largest, 0.2) << p.name;
    }
}

TEST(RecurrentLayers, TakeZerosForAbsentStatesAndASequenceWithoutABatch) {
    for (const RecurrentKind kind : kinds)
        for (const bool first : {false, true}) {
            TensorRegistry registry(3, default_device());
            const Recurrent net(
                registry, "net", kind,
                {.in = 3, .hidden = 2, .bidirectional = true, .batch_first = first});
            const Tensor x = recurrent_ramp({5, 3});
            const TensorList alone = net(x);
            const TensorList batch = net(reshape(x, first ? Shape{1, 5, 3} : Shape{5, 1, 3}));
            EXPECT_EQ(alone[0].shape(), (Shape{5, 4}));
            EXPECT_EQ(alone[1].shape(), (Shape{2, 2}));
            for (std::size_t i = 0; i < alone.size(); ++i)
                EXPECT_EQ(alone[i].values(), batch[i].values());
            const TensorList packed = net(x, {.batch_sizes = {1, 1, 1, 1, 1}});
            expect_same(packed[0], alone[0], bounds_of(net, reshape(x, {5, 1, 3})));
        }
}

TEST(RecurrentLayers, ACellIsALayerOfOneStep) {
    for (const RecurrentKind kind : kinds) {
        TensorRegistry a(3, default_device()), b(3, default_device());
        const Recurrent net(a, "net", kind, {.in = 3, .hidden = 2});
        const RecurrentCell cell(b, "cell", kind, 3, 2);
        const Tensor x = recurrent_ramp({4, 3});
        const Tensor step = reshape(x, {1, 4, 3});
        const TensorList one = cell(x), all = net(step);
        expect_same(one[0], all[0], bounds_of(net, step));
        EXPECT_EQ(one.size() + 1, all.size());
    }
}

TEST(RecurrentLayers, X2AreF16InARegionAndTrainTheirFp32Weights) {
    for (const RecurrentKind kind : kinds) {
        TensorRegistry registry(3, default_device());
        const Recurrent net(registry, "net", kind,
                            {.in = 3, .hidden = 2, .num_layers = 2, .dropout = 0.5});
        Tensor y;
        {
            const AutocastRegion region(here, true, DType::f16);
            const auto inside = region.enter();
            y = net(recurrent_ramp({5, 2, 3}),
                    {.training = true, .random = RandomStream(1, StreamId::dropout)})[0];
        }
        EXPECT_EQ(y.dtype(), DType::f16);
        backward(sum(y));
        for (const auto& p : registry.parameters) EXPECT_EQ(p.tensor.grad().dtype(), DType::f32);
    }
}

}  // namespace
}  // namespace engine
