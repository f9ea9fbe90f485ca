#include "ops/recurrent/weight_block.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "autograd/backward.h"
#include "kernels/cuda_device.h"
#include "recurrent_call.h"
#include "simt/libraries.h"
#include "simt/work_counts.h"
#include "tensor/memory/memory.h"

// Recurrent networks whose weights lie as the simulated library takes them. Shapes that a test has
// the library lay out in another way are that test's own, since a plan is made once.
namespace engine {
namespace {

using namespace test;
using kernels::simt::LibrarySettings;
using Values = std::vector<std::vector<double>>;

const Device gpu{Device::Kind::cuda, 0};

class WeightBlock : public ::testing::Test {
protected:
    WeightBlock() { set_default_device(gpu); }
    ~WeightBlock() override {
        kernels::simt::configure(LibrarySettings{});
        set_default_device({});
    }
};

RecurrentNetwork network(std::int64_t input, RecurrentCell cell = RecurrentCell::lstm) {
    return {.cell = cell, .steps = 3, .batch = 2, .input = input, .hidden = 4, .layers = 2};
}

bool in_block(const ProblemCall& call) {
    return lie_in_block(call.params, kernels::cuda::recurrent_spaces(call.p.n).value());
}

Values values_of(const TensorList& tensors) {
    Values out;
    for (const Tensor& each : tensors) out.push_back(each.values());
    return out;
}

/// All outputs and gradients.
Values results(const ProblemCall& call, const BackwardOptions& options = {}) {
    TensorList all = call.run();
    const TensorList gradients = grad(all, call.leaves(), call.seeds(), options);
    all.insert(all.end(), gradients.begin(), gradients.end());
    return values_of(all);
}

const Storage* memory_of(const Tensor& t) { return t.impl()->storage.get(); }

bool share_memory(const TensorList& tensors) {
    return std::ranges::all_of(
        tensors, [&](const Tensor& each) { return memory_of(each) == memory_of(tensors.front()); });
}

TensorList gradients_of(const TensorList& leaves) {
    TensorList out;
    for (const Tensor& each : leaves) out.push_back(each.grad());
    return out;
}

TEST_F(WeightBlock, ChangesNoBit) {
    int moved = 0, stayed = 0;
    for (const auto cell : {RecurrentCell::rnn_tanh, RecurrentCell::lstm, RecurrentCell::gru})
        for (const DType dtype : kernels::test::floating)
            for (const std::int64_t hidden : {5, 8})
                for (const int form : {0, 1, 2}) {
                    const RecurrentNetworkProblem problem({.cell = cell,
                                                           .dtype = dtype,
                                                           .steps = 3,
                                                           .batch = 2,
                                                           .input = 8,
                                                           .hidden = hidden,
                                                           .layers = form == 0 ? 1 : 2,
                                                           .bidirectional = form == 2,
                                                           .biases = form != 1});
                    SCOPED_TRACE(kernels::test::to_string(problem.n));
                    const ProblemCall call(problem);
                    // With a graph the gradients lie apart, as the weights do at first.
                    const Values expected = results(call, {.create_graph = true});
                    EXPECT_EQ(results(call), expected);
                    const Values weights = values_of(call.params);
                    move_into_block(problem.n, call.params);
                    ++(in_block(call) ? moved : stayed);
                    EXPECT_EQ(values_of(call.params), weights);
                    EXPECT_EQ(results(call), expected);
                }
    EXPECT_GT(moved, 36);
    EXPECT_GT(stayed, 8) << "or no weight was out of line";
}

TEST_F(WeightBlock, LeavesNothingToCopy) {
    const auto copies = [](const ProblemCall& call) {
        const TensorList seeds = call.seeds();
        kernels::cuda::synchronize({});
        kernels::simt::start_counting();
        backward(call.run(), seeds);
        kernels::cuda::synchronize({});
        auto counts = kernels::simt::stop_counting();
        return counts["copy"].runs + counts["copy_strided"].runs;
    };
    const RecurrentNetworkProblem problem(network(5));
    const ProblemCall call(problem);
    for (const Tensor& each : call.params) each.impl()->requires_grad = false;
    EXPECT_EQ(copies(call), 8 + 8) << "the gradients of frozen weights are copied out as well";
    for (const Tensor& each : call.leaves()) {
        each.set_grad({});
        each.impl()->requires_grad = true;
    }
    EXPECT_EQ(copies(call), 8);
    for (const Tensor& each : call.leaves()) each.set_grad({});
    move_into_block(problem.n, call.params);
    EXPECT_EQ(copies(call), 0);
}

TEST_F(WeightBlock, IsFollowedByAllHandlesOfTheWeights) {
    const RecurrentNetworkProblem problem(network(6));
    const ProblemCall call(problem);
    const TensorList others = call.params;
    move_into_block(problem.n, call.params);
    ASSERT_TRUE(in_block(call));
    EXPECT_TRUE(share_memory(others));
    for (const Tensor& each : others) {
        EXPECT_FALSE(each.is_view());
        EXPECT_TRUE(each.requires_grad());
        EXPECT_EQ(each.impl()->storage.use_count(), 1) << "a part counts as its own owner";
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(each.data()) % 16, 0u);
    }
    EXPECT_EQ(block_of(others[2]).bytes(),
              kernels::cuda::recurrent_spaces(problem.n).value().weights);
    EXPECT_EQ(block_of(others[2]).data(), block_of(others[5]).data());
    const void* const before = others[3].data();
    move_into_block(problem.n, call.params);
    EXPECT_EQ(others[3].data(), before) << "they lie there already";
}

TEST_F(WeightBlock, IsReadByNetworksOfOtherSizesAndByEvaluations) {
    const RecurrentNetworkProblem problem(network(7));
    const ProblemCall call(problem);
    move_into_block(problem.n, call.params);
    for (const bool training : {false, true}) {
        RecurrentNetwork n = problem.n;
        n.steps = 5;
        n.batch = 4;
        n.training = training;
        EXPECT_TRUE(lie_in_block(call.params, kernels::cuda::recurrent_spaces(n).value()));
    }
    TensorList swapped = call.params;
    std::swap(swapped[2], swapped[3]);
    const auto spaces = kernels::cuda::recurrent_spaces(problem.n).value();
    EXPECT_FALSE(lie_in_block(swapped, spaces)) << "biases of one size in the wrong order";
    EXPECT_FALSE(lie_in_block(std::span(call.params).first(4), spaces));
}

TEST_F(WeightBlock, OfGradientsIsHeldByTheLeavesAndAddedTo) {
    const RecurrentNetworkProblem problem(network(8));
    const ProblemCall call(problem);
    backward(call.run(), call.seeds());
    const TensorList first = gradients_of(call.params);
    EXPECT_TRUE(share_memory(first)) << "taken as they came";
    const Values once = values_of(first);
    backward(call.run(), call.seeds());
    const Values twice = values_of(gradients_of(call.params));
    EXPECT_EQ(values_of(first), once) << "what others hold is not written";
    for (std::size_t i = 0; i < once.size(); ++i)
        for (std::size_t k = 0; k < once[i].size(); ++k) EXPECT_EQ(twice[i][k], 2 * once[i][k]);
}

TEST_F(WeightBlock, OfGradientsGoesWithTheLastOfThem) {
    const RecurrentNetworkProblem problem(network(9));
    const ProblemCall call(problem);
    backward(call.run(), call.seeds());
    for (const Tensor& each : call.leaves()) each.set_grad({});
    const std::size_t before = memory_in_use(gpu);
    backward(call.run(), call.seeds());
    call.x.set_grad({});
    for (const Tensor& each : call.hx) each.set_grad({});
    for (const Tensor& each : call.params) {
        EXPECT_GT(memory_in_use(gpu), before);
        each.set_grad({});
    }
    EXPECT_EQ(memory_in_use(gpu), before);
}

TEST_F(WeightBlock, IsNotMadeOfGradientsThatMayBeKeptWithoutEachOther) {
    const RecurrentNetworkProblem problem(network(10));
    const ProblemCall call(problem);
    const TensorList leaves = call.leaves();
    const auto together = [&](const BackwardOptions& options) {
        const TensorList all = grad(call.run(), leaves, call.seeds(), options, true);
        return share_memory({all[3], all[4]});  // by weights of the first layer
    };
    EXPECT_TRUE(together({}));
    EXPECT_FALSE(together({.create_graph = true}));
    call.params.back().impl()->requires_grad = false;
    const TensorList outputs = call.run();
    const TensorList rest(leaves.begin(), leaves.end() - 1);
    const TensorList all = grad(outputs, rest, call.seeds());
    EXPECT_FALSE(share_memory({all[3], all[4]})) << "one weight is frozen";
}

TEST_F(WeightBlock, IsNotMadeWhereTheLibraryKeepsTheWeightsOtherwise) {
    const auto moves = [](const RecurrentNetwork& n) {
        const RecurrentNetworkProblem problem(n);
        const ProblemCall call(problem), moved(problem);
        move_into_block(n, moved.params);
        EXPECT_EQ(results(moved), results(call));
        return share_memory(moved.params);
    };
    kernels::simt::configure({.recurrent_scattered = true});
    EXPECT_FALSE(moves(network(21)));
    EXPECT_TRUE(moves(network(22, RecurrentCell::rnn_tanh))) << "each whole, with room between";
    kernels::simt::configure({.recurrent = false});
    EXPECT_FALSE(moves(network(23)));
    kernels::simt::configure(LibrarySettings{});
    kernels::simt::fail_plans("none", 2);
    EXPECT_FALSE(moves(network(24))) << "the device has no memory for the plan";
    EXPECT_TRUE(moves(network(24)));
}

}  // namespace
}  // namespace engine
