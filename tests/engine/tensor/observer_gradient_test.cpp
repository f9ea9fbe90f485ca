#include "tensor/observer.h"

#include <gtest/gtest.h>

#include "amp/dispatch.h"
#include "autograd/backward.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"

namespace engine {
namespace {

class Log final : public GradientObserver {
public:
    void on_gradient(const OpInfo&, const Tensor& gradient) override {
        seen.push_back(gradient.values()[0]);
    }
    std::vector<double> seen;
};

Tensor single_leaf(double value) {
    Tensor x = Tensor::of({value}, {1});
    return x.set_requires_grad(true);
}

TEST(GradientObserver, SeesTheGradientOfEveryOutputBeforeItIsUsed) {
    Log log;
    const GradientObserverScope attached(&log);
    backward(mul(neg(single_leaf(3)), 2.0));
    // Gradients of the product, of the negation, and of the leaf.
    EXPECT_EQ(log.seen, (std::vector<double>{1, 2, -2}));
}

TEST(GradientObserver, WatchesNoOperation) {
    Log log;
    const GradientObserverScope attached(&log);
    EXPECT_FALSE(is_watched());
    neg(single_leaf(1));
    EXPECT_TRUE(log.seen.empty());
}

TEST(GradientObserver, TheOneBeforeComesBack) {
    Log outer, inner;
    const GradientObserverScope attached(&outer);
    {
        const GradientObserverScope nearer(&inner);
        backward(neg(single_leaf(1)));
        const GradientObserverScope nobody(nullptr);
        backward(neg(single_leaf(1)));
    }
    EXPECT_EQ(inner.seen.size(), 2u);
    EXPECT_TRUE(outer.seen.empty());
    backward(neg(single_leaf(1)));
    EXPECT_EQ(outer.seen.size(), 2u);
}

}  // namespace
}  // namespace engine
