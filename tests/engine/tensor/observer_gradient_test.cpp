#include "tensor/observer.h"

#include <gtest/gtest.h>

#include "autograd/backward.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"

namespace engine {
namespace {

/// Sees gradients alone.
class Log final : public OpObserver {
public:
    bool sees_ops() const override { return false; }
    void on_gradient(const Op&, const Tensor& gradient) override {
        seen.push_back(gradient.values()[0]);
    }
    std::vector<double> seen;
};

Tensor single_leaf(double value) {
    Tensor x = Tensor::of({value}, {1});
    return x.set_requires_grad(true);
}

TEST(ObservedGradients, AreThoseOfEveryOutputBeforeTheyAreUsed) {
    Log log;
    const ObserverScope attached(log);
    backward(mul(neg(single_leaf(3)), 2.0));
    // Gradients of the product, of the negation, and of the leaf.
    EXPECT_EQ(log.seen, (std::vector<double>{1, 2, -2}));
}

TEST(ObservedGradients, AreSeenWithoutTheOperations) {
    Log log;
    const ObserverScope attached(log);
    EXPECT_FALSE(operations_are_observed());
    neg(single_leaf(1));
    EXPECT_TRUE(log.seen.empty());
}

TEST(ObservedGradients, EveryAttachedObserverSeesThem) {
    Log outer, inner;
    const ObserverScope attached(outer);
    {
        const ObserverScope nearer(inner);
        backward(neg(single_leaf(1)));
    }
    EXPECT_EQ(inner.seen.size(), 2u);
    backward(neg(single_leaf(1)));
    EXPECT_EQ(inner.seen.size(), 2u);
    EXPECT_EQ(outer.seen.size(), 4u);
}

}  // namespace
}  // namespace engine
