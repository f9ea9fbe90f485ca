#include <gtest/gtest.h>

#include "autograd/backward.h"
#include "engine/base/error.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/inplace.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/tape.h"

namespace engine {
namespace {

Tensor leaf(const std::vector<double>& values, const Shape& shape, DType dtype = DType::f32) {
    Tensor x = Tensor::of(values, shape, dtype);
    return x.set_requires_grad(true);
}

/// Expects Error(code) with a message that contains `words`.
template <typename F>
void expect_error(ErrorCode code, const std::string& words, F&& f) {
    try {
        f();
        FAIL() << "no error; expected one about " << words;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
}

TEST(Tape, AddsTheGradientsOfEveryUseOfALeaf) {
    const Tensor x = leaf({2, 3}, {2});
    backward(sum(add(mul(x, x), x)));
    EXPECT_EQ(x.grad().values(), (std::vector<double>{5, 7}));
    backward(sum(x));
    EXPECT_EQ(x.grad().values(), (std::vector<double>{6, 8}));
}

TEST(Tape, RefusesASecondBackwardNamingTheOpUnlessTheGraphIsRetained) {
    const Tensor x = leaf({2}, {1});
    const Tensor kept = mul(x, x);
    backward(kept, {.retain_graph = true});
    backward(kept);
    EXPECT_EQ(x.grad().values(), (std::vector<double>{8}));
    expect_error(ErrorCode::state, "mul: a second backward pass", [&] { backward(kept); });
}

TEST(Tape, ASecondBackwardPassesThroughOpsThatSavedNothing) {
    const Tensor w = leaf({1, 2}, {2});
    const Tensor h = add(w, 1.0);
    backward(sum(mul(h, 2.0)));
    backward(sum(mul(h, 3.0)));
    EXPECT_EQ(w.grad().values(), (std::vector<double>{5, 5}));
}

TEST(Tape, ASecondBackwardStopsAtTheSharedOpWhoseSavedTensorsWereFreed) {
    const Tensor w = leaf({1, 2}, {2});
    const Tensor shared = exp(w);
    backward(sum(add(shared, 1.0)));
    expect_error(ErrorCode::state, "exp: a second backward pass",
                 [&] { backward(sum(add(shared, 2.0))); });
}

TEST(Tape, NamesTheOpWhoseSavedTensorWasChangedInPlace) {
    const Tensor x = leaf({1, 2}, {2});
    const Tensor h = mul(x, 2.0);
    const Tensor y = exp(h);
    add_(y, Tensor::full({2}, 1, DType::f32));
    expect_error(ErrorCode::state, "exp: a tensor needed for its gradient was changed in place",
                 [&] { backward(sum(y)); });
}

TEST(Tape, AWriteThroughAnyAliasCountsAsAChange) {
    const Tensor x = leaf({1, 2}, {2});
    const Tensor h = mul(x, 2.0);
    const Tensor y = mul(h, h);
    {
        const GradMode off(false);
        zero_(narrow(h.detach(), 0, 0, 1));
    }
    expect_error(ErrorCode::state, "changed in place", [&] { backward(sum(y)); });
}

TEST(Tape, AddKeepsNoOperandSoChangingOneLaterIsFine) {
    const Tensor x = leaf({1, 2}, {2});
    const Tensor h = mul(x, 2.0);
    const Tensor y = add(h, x);
    mul_(h, Tensor::full({2}, 3, DType::f32));
    backward(sum(y));
    EXPECT_EQ(x.grad().values(), (std::vector<double>{3, 3}));
}

TEST(Tape, FreesTheNodesWithTheOutputsAlsoOfOpsThatKeepTheirOutput) {
    const Tensor x = leaf({0.5}, {1});
    std::weak_ptr<Node> first, second, third;
    {
        const Tensor a = tanh(x), b = exp(a), c = mul(b, b);
        first = a.impl()->node;
        second = b.impl()->node;
        third = c.impl()->node;
        EXPECT_FALSE(first.expired());
    }
    EXPECT_TRUE(first.expired());
    EXPECT_TRUE(second.expired());
    EXPECT_TRUE(third.expired());
}

TEST(Tape, FreesWhatItKeptAsSoonAsBackwardHasUsedIt) {
    const Tensor x = leaf({0.5, 1}, {2});
    const Tensor y = [&] { return sum(exp(mul(x, 2.0))); }();
    const std::weak_ptr<Storage> kept =
        y.impl()->node->edges[0].node->saves[0].tensor.impl()->storage;
    EXPECT_FALSE(kept.expired());
    backward(y);
    EXPECT_TRUE(kept.expired());
}

TEST(Tape, AChainOfAHundredThousandOpsDoesNotOverflowTheStack) {
    Tensor x = Tensor::of({1}, {1}, DType::f32, Device{});  // the call stack is the host's
    x.set_requires_grad(true);
    {
        Tensor y = x;
        for (int i = 0; i < 100000; ++i) y = neg(y);
        backward(y, {.retain_graph = true});
    }
    EXPECT_EQ(x.grad().values(), (std::vector<double>{1}));
}

TEST(Tape, HooksSeeTheWholeGradientOfALeafAndThatOfAMiddleBeforeItFlowsOn) {
    const Tensor x = leaf({1, 2}, {2});
    std::vector<double> at_leaf, at_middle;
    x.register_hook([&](const Tensor& g) { at_leaf = g.values(); });
    const Tensor h = mul(x, 3.0);
    h.register_hook([&](const Tensor& g) { at_middle = g.values(); });
    backward(sum(add(add(h, h), x)));
    EXPECT_EQ(at_middle, (std::vector<double>{2, 2}));
    EXPECT_EQ(at_leaf, (std::vector<double>{7, 7}));
}

TEST(Tape, GradLeavesTheLeavesAloneAndSaysWhichInputHasNoPart) {
    const Tensor x = leaf({3}, {1}), other = leaf({1}, {1});
    const Tensor y = mul(x, x);
    EXPECT_EQ(grad({&y, 1}, {&x, 1}, {}, {.retain_graph = true})[0].values(),
              (std::vector<double>{6}));
    EXPECT_FALSE(x.grad().defined());
    expect_error(ErrorCode::state, "no part", [&] {
        grad({&y, 1}, {&other, 1}, {}, {.retain_graph = true});
    });
    EXPECT_FALSE(grad({&y, 1}, {&other, 1}, {}, {}, true)[0].defined());
}

TEST(Tape, AGradientPenaltyReachesTheLeaves) {
    // L = |d(x^3)/dx|^2 = 9 x^4, so dL/dx = 36 x^3.
    const Tensor x = leaf({2}, {1}, DType::f64);
    const Tensor y = mul(mul(x, x), x);
    const Tensor slope = grad({&y, 1}, {&x, 1}, {}, {.create_graph = true})[0];
    backward(mul(slope, slope));
    EXPECT_EQ(x.grad().values(), (std::vector<double>{288}));
}

TEST(Tape, RecordsNothingWithGradientModeOff) {
    const Tensor x = leaf({2}, {1});
    const GradMode off(false);
    EXPECT_FALSE(mul(x, x).requires_grad());
    const GradMode on(true);
    EXPECT_TRUE(mul(x, x).requires_grad());
}

TEST(Tape, EveryLeafOwnsItsGradientAndItLiesAsTheLeafDoes) {
    const Tensor a = leaf({1, 2, 3, 4}, {2, 2}), b = leaf({1, 2, 3, 4}, {2, 2});
    backward(sum(add(a, b)));  // a broadcast view, the same for both
    EXPECT_TRUE(a.grad().is_contiguous());
    EXPECT_NE(a.grad().data(), b.grad().data());
    backward(sum(transpose(mul(a, b), 0, 1)));
    EXPECT_TRUE(a.grad().is_contiguous());
    EXPECT_EQ(a.grad().values(), (std::vector<double>{2, 3, 4, 5}));
}

TEST(Tape, AGivenGradientIsNotTakenOverByALeaf) {
    const Tensor x = leaf({1, 2}, {2});
    const Tensor seed = Tensor::full({2}, 5, DType::f32);
    const Tensor y = reshape(x, {2, 1});
    const Tensor column = reshape(seed, {2, 1});
    backward({&y, 1}, {&column, 1});
    EXPECT_NE(x.grad().data(), seed.data());
}

TEST(Tape, OnlyAOneElementOutputNeedsNoGradient) {
    const Tensor x = leaf({1, 2}, {2});
    expect_error(ErrorCode::shape, "(2)", [&] { backward(mul(x, 2.0)); });
    expect_error(ErrorCode::state, "no graph", [&] { backward(Tensor::full({}, 1, DType::f32)); });
}

TEST(Tape, UndefinedGradientsOfSomeOutputsStandForZero) {
    static const Op info("split(x)", "Splits a test's input.");
    const Tensor x = leaf({1, 2}, {2});
    TensorList halves{Tensor::full({1}, 1, DType::f32), Tensor::full({1}, 2, DType::f32)};
    halves = record_outputs(info, {&x, 1}, halves, {}, [](std::span<const Tensor> g, const Saved&) {
        EXPECT_FALSE(g[0].defined());
        return TensorList{cat({Tensor::zeros({1}, DType::f32), g[1]}, 0)};
    });
    backward(halves[1]);
    EXPECT_EQ(x.grad().values(), (std::vector<double>{0, 1}));
}

TEST(Tape, AGradientOfTheWrongShapeIsAnErrorThatNamesWhoseItWas) {
    static const Op info("bent(x)", "Returns a wrong gradient.");
    const Tensor x = leaf({1, 2}, {2});
    const Tensor h = mul(x, 2.0);
    const Tensor y = record(info, {h}, Tensor::full({}, 1, DType::f32), {},
                            [](const Tensor& dy, const Saved&) { return dy; });
    expect_error(ErrorCode::shape, "mul: a gradient of shape ()", [&] { backward(y); });
}

TEST(Tape, AReaderOfAPassAfterAnErrorFindsTheGraphUsable) {
    const Tensor x = leaf({1, 2}, {2});
    const Tensor y = sum(mul(x, x));
    const Tensor wrong = Tensor::full({3}, 1, DType::f32);
    EXPECT_THROW(backward({&y, 1}, {&wrong, 1}), Error);
    backward(y);
    EXPECT_EQ(x.grad().values(), (std::vector<double>{2, 4}));
}

}  // namespace
}  // namespace engine
