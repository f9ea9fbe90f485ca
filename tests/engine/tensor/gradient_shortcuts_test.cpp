#include "tensor/gradient_shortcuts.h"

#include <gtest/gtest.h>

#include "autograd/backward.h"
#include "engine/base/error.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/observer.h"
#include "tensor/tape.h"

namespace engine {
namespace {

const Op doubled_info("doubled(x)", "Made for these tests.");

/// Observations of the gradient of `doubled`.
struct Found {
    bool reused = false;
    bool breaks_off = false;  // throws after it has reused the tensor
};

/// 2x. Saves x for its gradient function, which tries to reuse its memory.
Tensor doubled(const Tensor& x, Found& found) {
    Tensor y;
    {
        const GradMode off(false);
        y = mul(x, 2.0);
    }
    return record(doubled_info, {x}, y, {save(x)},
                  [&found](const Tensor& gradient, const Saved& saved) {
                      const Tensor kept = saved[0];
                      const Tensor memory = reuse_saved(kept);
                      found.reused = memory.defined();
                      if (found.reused) {
                          EXPECT_EQ(memory.data(), kept.data());
                          EXPECT_FALSE(memory.requires_grad());
                      }
                      if (found.breaks_off) throw Error(ErrorCode::value, "broken off");
                      return mul(gradient, 2.0);
                  });
}

Tensor pair_leaf() { return Tensor::of({1, 2}, {2}).set_requires_grad(true); }

TEST(ReuseSaved, ReusesATensorThatItsNodeAloneHolds) {
    const Tensor x = pair_leaf();
    Found found;
    const Tensor y = doubled(mul(x, 3.0), found);
    backward(sum(y));
    EXPECT_TRUE(found.reused);
    EXPECT_EQ(x.grad().values(), (std::vector<double>{6, 6}));
}

TEST(ReuseSaved, ReusesAViewWhoseBaseIsGone) {
    const Tensor x = pair_leaf();
    Found found;
    const Tensor y = doubled(reshape(mul(x, 3.0), {2, 1}), found);
    backward(sum(y));
    EXPECT_TRUE(found.reused);
}

TEST(ReuseSaved, LeavesATensorThatSomebodyElseHolds) {
    const Tensor x = pair_leaf();
    Found found;
    backward(sum(doubled(x, found)));
    EXPECT_FALSE(found.reused) << "a leaf";
    const Tensor h = mul(x, 3.0);
    backward(sum(doubled(h, found)));
    EXPECT_FALSE(found.reused) << "held by the caller";
    const auto with_alias = [&] {
        const Tensor inner = mul(x, 3.0);
        return std::pair{doubled(inner, found), inner.detach()};
    }();
    backward(sum(with_alias.first));
    EXPECT_FALSE(found.reused) << "an alias of its memory";
    EXPECT_EQ(with_alias.second.values(), (std::vector<double>{3, 6}));
}

TEST(ReuseSaved, LeavesATensorThatAnotherNodeKeeps) {
    const Tensor x = pair_leaf();
    Found found;
    const Tensor y = [&] {
        const Tensor h = mul(x, 3.0);
        // Recorded after the square, so its gradient runs first.
        const Tensor square = mul(h, h);
        return add(doubled(h, found), square);
    }();
    backward(sum(y));
    EXPECT_FALSE(found.reused);
    EXPECT_EQ(x.grad().values(), (std::vector<double>{6 + 18, 6 + 36}));
    x.set_grad({});
    // exp keeps its result.
    const Tensor z = [&] { return doubled(exp(mul(x, 0.0)), found); }();
    backward(sum(z));
    EXPECT_FALSE(found.reused);
}

TEST(ReuseSaved, LeavesATensorOfAGraphThatIsKept) {
    const Tensor x = pair_leaf();
    Found found;
    const Tensor y = sum(doubled(mul(x, 3.0), found));
    backward(y, {.retain_graph = true});
    EXPECT_FALSE(found.reused);
    backward(y, {.create_graph = true});
    EXPECT_FALSE(found.reused);
    backward(y);
    EXPECT_TRUE(found.reused);
}

TEST(ReuseSaved, LeavesATensorWhileAnObserverReadsValuesOfInputs) {
    struct Observer : OpObserver {
        bool reads_inputs() const override { return reads; }
        bool reads = true;
    } observer, blind;
    blind.reads = false;
    const Tensor x = pair_leaf();
    Found found;
    const auto run = [&] {
        const Tensor y = sum(doubled(mul(x, 3.0), found));
        backward(y);
    };
    const ObserverScope attached(blind);
    run();
    EXPECT_TRUE(found.reused) << "of types and shapes alone";
    const ObserverScope beside(observer);
    run();
    EXPECT_FALSE(found.reused);
}

TEST(ReuseSaved, LeavesATensorOutsideABackwardPass) {
    const GradMode off(false);
    const Tensor x = Tensor::of({1, 2}, {2});
    const Save kept = save(x);
    EXPECT_FALSE(reuse_saved(kept.tensor).defined());
}

TEST(ReuseSaved, APassThatBrokeOffAfterwardsCannotBeRunAgain) {
    const Tensor x = pair_leaf();
    Found found{.breaks_off = true};
    const Tensor y = sum(doubled(mul(x, 3.0), found));
    EXPECT_THROW(backward(y), Error);
    found.breaks_off = false;
    try {
        backward(y);
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::state);
        EXPECT_NE(std::string(error.what()).find("changed in place"), std::string::npos);
    }
}

/// 2x, whose gradient function tries to reuse the gradient that it is given.
Tensor reusing(const Tensor& x, bool& reused) {
    Tensor y;
    {
        const GradMode off(false);
        y = mul(x, 2.0);
    }
    return record_many(doubled_info, {&x, 1}, y, {},
                       [&reused](std::span<const Tensor> grads, const Saved&) {
                           const Tensor memory = reuse_gradient(grads[0]);
                           reused = memory.defined();
                           if (reused) {
                               EXPECT_EQ(memory.data(), grads[0].data());
                           }
                           return TensorList{mul(grads[0], 2.0)};
                       });
}

TEST(ReuseGradient, ReusesAGradientThatThePassAloneHolds) {
    const Tensor x = pair_leaf();
    bool reused = false;
    backward(sum(mul(reusing(mul(x, 3.0), reused), 5.0)));
    EXPECT_TRUE(reused);
    EXPECT_EQ(x.grad().values(), (std::vector<double>{30, 30}));
}

TEST(ReuseGradient, LeavesAGradientThatSomebodyElseHolds) {
    const Tensor x = pair_leaf();
    bool reused = true;
    const Tensor y = reusing(mul(x, 3.0), reused);
    const Tensor dy = Tensor::of({1, 1}, {2});
    backward({&y, 1}, {&dy, 1});
    EXPECT_FALSE(reused) << "the caller's";
    Tensor kept;
    const Tensor hooked = reusing(mul(x, 3.0), reused);
    hooked.register_hook([&kept](const Tensor& gradient) { kept = gradient; });
    backward(sum(mul(hooked, 5.0)));
    EXPECT_FALSE(reused) << "a hook's";
    EXPECT_EQ(kept.values(), (std::vector<double>{5, 5}));
    // An addition gives both of its terms the same gradient.
    bool other = true;
    backward(sum(mul(add(reusing(mul(x, 3.0), reused), reusing(mul(x, 3.0), other)), 5.0)));
    EXPECT_FALSE(reused && other) << "two nodes have one gradient";
}

TEST(ReuseGradient, LeavesAGradientOfAGraphThatIsKept) {
    const Tensor x = pair_leaf();
    bool reused = true;
    const Tensor y = sum(mul(reusing(mul(x, 3.0), reused), 5.0));
    backward(y, {.retain_graph = true});
    EXPECT_FALSE(reused);
    backward(y, {.create_graph = true});
    EXPECT_FALSE(reused);
    backward(y);
    EXPECT_TRUE(reused);
}

}  // namespace
}  // namespace engine
