#include "nn/layers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "engine/base/error.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/sum.h"
#include "support/exact_values.h"
#include "support/op_log.h"
#include "tensor/cast.h"
#include "tensor/gradient_shortcuts.h"
#include "tensor/observer.h"

namespace engine {
namespace {

using test::bits;

Tensor chain_numbers(const Shape& shape, DType dtype, int seed) {
    return test::numbers(shape, dtype, seed).set_requires_grad(true);
}

struct ChainCase {
    Tensor x;
    std::vector<Linear> layers;

    TensorList leaves() const {
        TensorList all{x};
        for (const Linear& layer : layers) {
            all.push_back(layer.weight);
            all.push_back(layer.bias);
        }
        return all;
    }
};

/// Equal ones for equal arguments: gradients accumulate in their leaves.
ChainCase made_chain(DType dtype, const std::vector<std::int64_t>& sizes = {7, 33, 20, 3}) {
    ChainCase out{chain_numbers({5, sizes.front()}, dtype, 1), {}};
    for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
        Linear& layer = out.layers.emplace_back();
        const int seed = 2 + 2 * static_cast<int>(i);
        layer.module = ModuleName("fc" + std::to_string(i + 1));
        layer.weight = chain_numbers({sizes[i + 1], sizes[i]}, dtype, seed);
        layer.bias = chain_numbers({sizes[i + 1]}, dtype, seed + 1);
    }
    return out;
}

/// With the 16-bit copies that an optimizer keeps, as in a training step.
ChainCase with_copies(DType low) {
    ChainCase out = made_chain(DType::f32);
    const GradMode off(false);
    for (const Tensor& leaf : out.leaves()) {
        if (leaf.impl() == out.x.impl()) continue;
        leaf.impl()->low_copy =
            std::make_shared<LowCopy>(LowCopy{to(leaf.detach(), low), leaf.version()});
    }
    return out;
}

Tensor chain_apart(const ChainCase& c) {
    Tensor h = c.x;
    for (std::size_t i = 0; i < c.layers.size(); ++i) {
        h = c.layers[i](h);
        if (i + 1 < c.layers.size()) h = relu(h);
    }
    return h;
}
Tensor chain_together(const ChainCase& c) { return linear_chain(c.layers, c.x); }

bool is_one_node(const Tensor& y) {
    return y.impl()->node->info().name == "linear_chain";
}

void expect_equal_chain_gradients(const ChainCase& one, const ChainCase& two) {
    const TensorList first = one.leaves(), second = two.leaves();
    for (std::size_t i = 0; i < first.size(); ++i)
        EXPECT_EQ(bits(first[i].grad()), bits(second[i].grad())) << "leaf " << i;
}

/// The loss weighs results unevenly.
Tensor chain_loss(const Tensor& y) {
    return sum(mul(y, chain_numbers(y.shape(), y.dtype(), 40).detach()), {}, false, y.dtype());
}

TEST(LinearChain, HasTheBitsOfTheLayersAndOfTheirGradients) {
    for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
        const ChainCase one = made_chain(dtype), two = made_chain(dtype);
        const Tensor first = chain_apart(one), second = chain_together(two);
        ASSERT_TRUE(is_one_node(second)) << "else nothing is compared";
        EXPECT_EQ(bits(first), bits(second)) << name(dtype);
        backward(chain_loss(first));
        backward(chain_loss(second));
        expect_equal_chain_gradients(one, two);
    }
}

TEST(LinearChain, ComputesNoGradientThatNobodyAskedFor) {
    // Which of x, weight 1, bias 1, weight 2, ... ask.
    for (const std::vector<std::size_t>& asking :
         {std::vector<std::size_t>{1, 2, 3, 4, 5, 6}, {5, 6}, {4}, {1}, {0}, {3, 6}}) {
        const ChainCase one = made_chain(DType::f32), two = made_chain(DType::f32);
        for (const ChainCase* each : {&one, &two}) {
            const TensorList leaves = each->leaves();
            for (Tensor leaf : leaves) leaf.set_requires_grad(false);
            for (const std::size_t i : asking) Tensor(leaves[i]).set_requires_grad(true);
        }
        const Tensor y = chain_together(two);
        ASSERT_TRUE(is_one_node(y));
        backward(chain_loss(chain_apart(one)));
        backward(chain_loss(y));
        expect_equal_chain_gradients(one, two);
    }
}

TEST(LinearChain, HasTheBitsOfTheLayersInABackwardPassInsideARegion) {
    const ChainCase one = made_chain(DType::f32), two = made_chain(DType::f32);
    const Tensor first = chain_loss(chain_apart(one)), y = chain_together(two),
                 second = chain_loss(y);
    ASSERT_TRUE(is_one_node(y));
    const AutocastRegion region(Device::Kind::cpu, true, DType::bf16);
    const auto entered = region.enter();
    backward(first);
    backward(second);
    expect_equal_chain_gradients(one, two);
}

TEST(LinearChain, TakesNoCopiesOutsideARegion) {
    ChainCase c = with_copies(DType::bf16);
    const GradMode off(false);
    c.x = to(c.x, DType::bf16);
    EXPECT_THROW(chain_together(c), Error) << "of two types, as the layers one by one";
}

TEST(LinearChain, ReadsTheOptimizersCopiesAndLeavesGradientsInTheirType) {
    for (const DType low : {DType::f16, DType::bf16}) {
        const AutocastRegion region(Device::Kind::cpu, true, low);
        const LowGradients stay(true);
        const ChainCase one = with_copies(low), two = with_copies(low);
        const auto run = [&](const ChainCase& c, Tensor (*op)(const ChainCase&)) {
            const auto entered = region.enter();
            return op(c);
        };
        const Tensor first = run(one, chain_apart), second = run(two, chain_together);
        ASSERT_TRUE(is_one_node(second)) << "else nothing is compared";
        EXPECT_EQ(bits(first), bits(second));
        backward(chain_loss(first));
        backward(chain_loss(second));
        EXPECT_EQ(two.layers[0].weight.grad().dtype(), low);
        EXPECT_EQ(two.x.grad().dtype(), DType::f32);
        expect_equal_chain_gradients(one, two);
    }
}

TEST(LinearChain, LeavesCastsToTheirOwnNodes) {
    const AutocastRegion region(Device::Kind::cpu, true, DType::f16);
    const auto entered = region.enter();
    EXPECT_FALSE(is_one_node(chain_together(with_copies(DType::f16))))
        << "gradients must become f32";
    const LowGradients stay(true);
    EXPECT_FALSE(is_one_node(chain_together(made_chain(DType::f32)))) << "there are no copies";
    const ChainCase stale = with_copies(DType::f16);
    stale.layers[1].weight.bump_version();
    EXPECT_FALSE(is_one_node(chain_together(stale)));
    EXPECT_FALSE(is_one_node(chain_together(with_copies(DType::bf16)))) << "copies of another type";
}

TEST(LinearChain, LeavesLargeLayersToTheirOwnNodes) {
    const ChainCase large = made_chain(DType::f32, {1024, 1024, 2});
    EXPECT_FALSE(is_one_node(chain_together(large)));
    const ChainCase deep = made_chain(DType::f32, {2, 2, 2, 2, 2, 2, 2, 2, 2, 2});
    EXPECT_FALSE(is_one_node(chain_together(deep)));
    EXPECT_EQ(bits(chain_apart(deep)), bits(chain_together(deep)));
}

TEST(LinearChain, RefusesWhatLinearRefuses) {
    ChainCase wrong = made_chain(DType::f32);
    wrong.layers[1].weight = chain_numbers({20, 32}, DType::f32, 1);
    EXPECT_THROW(chain_together(wrong), Error);
    ChainCase mixed = made_chain(DType::f32);
    mixed.layers[2].bias = chain_numbers({3}, DType::f64, 1);
    EXPECT_THROW(chain_together(mixed), Error);
}

TEST(LinearChain, HasTheGradientsOfItsGradient) {
    const auto second_order = [](const ChainCase& c, const Tensor& y) {
        const Tensor loss = chain_loss(mul(y, y));
        const TensorList first = grad({&loss, 1}, c.leaves(), {}, {.create_graph = true});
        Tensor all = chain_loss(mul(first[0], first[0]));
        for (std::size_t i = 1; i < first.size(); ++i)
            all = add(all, chain_loss(mul(first[i], first[i])));
        backward(all);
    };
    const ChainCase one = made_chain(DType::f64), two = made_chain(DType::f64);
    second_order(one, chain_apart(one));
    const Tensor y = chain_together(two);
    ASSERT_TRUE(is_one_node(y));
    second_order(two, y);
    const TensorList first = one.leaves(), second = two.leaves();
    for (std::size_t i = 0; i < first.size(); ++i) {
        const auto a = first[i].grad().values(), b = second[i].grad().values();
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t j = 0; j < a.size(); ++j)
            EXPECT_NEAR(a[j], b[j], 1e-12 * (1 + std::abs(a[j]))) << "leaf " << i;
    }
}

TEST(LinearChain, MayBeDifferentiatedTwiceWhereTheGraphIsKept) {
    const ChainCase one = made_chain(DType::f32), two = made_chain(DType::f32);
    const Tensor first = chain_loss(chain_apart(one)), second = chain_loss(chain_together(two));
    for (int pass = 0; pass < 2; ++pass) {
        backward(first, {.retain_graph = true});
        backward(second, {.retain_graph = true});
    }
    expect_equal_chain_gradients(one, two);
}

TEST(LinearChain, SeesThatAWeightWasChangedInPlace) {
    const ChainCase c = made_chain(DType::f32);
    const Tensor loss = chain_loss(chain_together(c));
    c.layers[1].weight.bump_version();
    EXPECT_THROW(backward(loss), Error);
}

TEST(LinearChain, IsItsLayersForAnObserver) {
    OpLog log;
    const ObserverScope attached(log);
    chain_together(made_chain(DType::f32));
    EXPECT_EQ(log.forward, (std::vector<std::string>{"linear in fc1", "relu in ", "linear in fc2",
                                                     "relu in ", "linear in fc3"}));
}

TEST(LinearChain, ShowsTheGradientsOfItsLayersToAnObserver) {
    OpLog one, two;
    {
        const ObserverScope attached(one);
        backward(chain_loss(chain_apart(made_chain(DType::f32))));
    }
    {
        const ObserverScope attached(two);
        backward(chain_loss(chain_together(made_chain(DType::f32))));
    }
    EXPECT_EQ(std::ranges::count(two.backward, "relu_backward in "), 2);
    EXPECT_EQ(two.backward, one.backward);
}

class Gradients final : public OpObserver {
public:
    bool sees_ops() const override { return false; }
    void on_gradient(const Op&, const Tensor& gradient) override {
        for (const double value : gradient.values()) largest = std::max(largest, std::abs(value));
    }
    double largest = 0;
};

class Keeping final : public OpObserver {
public:
    bool sees_ops() const override { return false; }
    void on_gradient(const Op& to, const Tensor& gradient) override {
        if (to.name != "linear_chain") return;
        kept.push_back(gradient);
        bits_then.push_back(bits(gradient));
    }
    TensorList kept;
    std::vector<std::string> bits_then;
};

TEST(LinearChain, LeavesAGradientAloneThatAnObserverKeeps) {
    const ChainCase one = made_chain(DType::f32), two = made_chain(DType::f32);
    const Tensor first = chain_loss(chain_apart(one)), second = chain_loss(chain_together(two));
    backward(first);
    Keeping keeping;
    const ObserverScope attached(keeping);
    backward(second);
    ASSERT_EQ(keeping.kept.size(), 3) << "of its result, and of its two hidden layers";
    for (std::size_t i = 0; i < keeping.kept.size(); ++i)
        EXPECT_EQ(bits(keeping.kept[i]), keeping.bits_then[i]);
    expect_equal_chain_gradients(one, two);
}

/// Gradients of its hidden layers' results are shown, too: they decide how large the loss scale may
/// be.
TEST(LinearChain, ShowsTheGradientsBetweenItsLayers) {
    const auto seen = [](Tensor (*op)(const ChainCase&)) {
        ChainCase c = made_chain(DType::f16);
        const auto scale = [&](std::size_t i, double factor) {
            const GradMode off(false);
            c.layers[i].weight = mul(c.layers[i].weight, factor).set_requires_grad(true);
        };
        scale(2, 64.0);  // the largest gradient is the one that comes out of the last layer
        scale(1, 0.001);
        const Tensor loss = sum(op(c), {}, false, DType::f16);
        Gradients gradients;
        const ObserverScope attached(gradients);
        // Leaves' own gradients aside.
        grad({&loss, 1}, {&c.layers[0].bias, 1});
        return gradients.largest;
    };
    const double largest = seen(chain_together);
    EXPECT_EQ(largest, seen(chain_apart));
    EXPECT_GT(largest, 10);
}

}  // namespace
}  // namespace engine
