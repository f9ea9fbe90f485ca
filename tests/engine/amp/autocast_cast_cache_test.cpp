#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "cast_counter.h"
#include "ops/linalg/linear.h"
#include "ops/linalg/matmul.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/inplace.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "support/here.h"
#include "tensor/cast.h"
#include "tensor/gradient_shortcuts.h"
#include "tensor/memory/memory.h"

namespace engine {
namespace {

using testing::ElementsAre;

Tensor weight(bool requires_grad = true) {
    Tensor w = Tensor::of({1, 2, 3, 4}, {2, 2});
    return w.set_requires_grad(requires_grad);
}
Tensor low_input(DType dtype = DType::f16) { return Tensor::full({2, 2}, 1, dtype); }

AutocastRegion f16_region(bool enabled = true, bool cache = true) {
    return AutocastRegion(here, enabled, DType::f16, cache);
}

TEST(WeightCache, M1CastsAWeightOncePerRegionAndEverythingElseEachTime) {
    const Tensor x = low_input();
    const auto casts_of = [&](const Tensor& source, const std::vector<Tensor>& uses, bool cache) {
        const auto inside = f16_region(true, cache).enter();
        const CastCounter counter(source);
        for (const auto& use : uses) mm(x, use);
        return counter.count();
    };
    const Tensor w = weight(), frozen = weight(false), plain = Tensor::full({2, 2}, 1, DType::f32);
    EXPECT_EQ(casts_of(w, {w, w, w}, true), 1);
    EXPECT_EQ(casts_of(plain, {plain, plain}, true), 2);
    EXPECT_EQ(casts_of(frozen, {frozen, frozen}, true), 2);
    const Tensor turned = transpose(w, 0, 1);
    EXPECT_EQ(casts_of(w, {turned, turned}, true), 2);
    EXPECT_EQ(casts_of(w, {w, w}, false), 2);
}

TEST(WeightCache, M2LivesAsLongAsTheOutermostRegion) {
    const Tensor x = low_input(), w = weight();
    {
        const CastCounter counter(w);
        const auto outer = f16_region().enter();
        mm(x, w);
        {
            const auto inner = f16_region().enter();
            mm(x, w);
        }
        {
            const auto off = f16_region(false).enter();
            const auto on = f16_region().enter();
            mm(x, w);
        }
        EXPECT_EQ(counter.count(), 1);
    }
    {
        const CastCounter counter(w);
        for (int i = 0; i < 2; ++i) {
            const auto outermost = f16_region().enter();
            mm(x, w);
        }
        EXPECT_EQ(counter.count(), 2);
    }
    for (const Device::Kind kind : {Device::Kind::cpu, Device::Kind::cuda}) {
        const CastCounter counter(w);
        const auto outer = AutocastRegion(kind, false).enter();
        for (int i = 0; i < 2; ++i) {
            const auto inner = f16_region().enter();
            mm(x, w);
        }
        EXPECT_EQ(counter.count(), 1);
    }
}

TEST(WeightCache, ANestedRegionOfTheOther16BitTypeHasItsOwnEntry) {
    const Tensor w = weight();
    const auto outer = f16_region().enter();
    EXPECT_EQ(mm(low_input(), w).dtype(), DType::f16);
    const auto inner = AutocastRegion(here, true, DType::bf16).enter();
    EXPECT_EQ(mm(low_input(DType::bf16), w).dtype(), DType::bf16);
}

TEST(WeightCache, AWeightChangedInsideTheRegionIsCastAgain) {
    const Tensor w = weight();
    const auto inside = f16_region().enter();
    mm(low_input(), w);
    {
        const GradMode off(false);
        add_(w.detach(), Tensor::full({}, 1, DType::f32));
    }
    EXPECT_EQ(mm(low_input(), w).values(), (std::vector<double>{6, 8, 6, 8}));
}

TEST(WeightCache, AFreedWeightsAddressIsNotMistakenForANewOne) {
    const auto inside = f16_region().enter();
    for (int i = 0; i < 50; ++i) {
        Tensor w = Tensor::full({2, 2}, i, DType::f32);
        w.set_requires_grad(true);
        EXPECT_EQ(mm(low_input(), w).values()[0], 2.0 * i);
    }
}

TEST(WeightCache, CastsUnderNoGradKeepTheGraphForLaterUses) {
    const Tensor w = weight();
    Tensor y;
    {
        const auto inside = f16_region().enter();
        const CastCounter counter(w);
        {
            const GradMode off(false);
            EXPECT_FALSE(mm(low_input(), w).requires_grad());
        }
        y = mm(low_input(), w);
        EXPECT_EQ(counter.count(), 1);
    }
    backward(sum(to(y, DType::f32)));
    EXPECT_EQ(w.grad().values(), (std::vector<double>{2, 2, 2, 2}));
    EXPECT_EQ(w.grad().dtype(), DType::f32);
}

TEST(WeightCache, InferenceModeNeverCaches) {
    const Tensor w = weight();
    const auto inside = f16_region().enter();
    const InferenceMode inference;
    const CastCounter counter(w);
    mm(low_input(), w);
    mm(low_input(), w);
    EXPECT_EQ(counter.count(), 2);
    EXPECT_EQ(autocast_cache_size(), 0u);
}

TEST(WeightCache, A22MemoryDoesNotGrowOverForwardsWithoutGradients) {
    const auto accounting = std::make_shared<MemoryAccounting>();
    const AccountingScope scope(accounting);
    Tensor w = Tensor::full({10, 10}, 1, DType::f32), b = Tensor::full({10}, 1, DType::f32);
    w.set_requires_grad(true);
    b.set_requires_grad(true);
    const Tensor x = Tensor::full({10, 10}, 1, DType::f32);
    const auto inside = f16_region().enter();
    const GradMode off(false);
    linear(x, w, b);
    const auto after_first = accounting->total();
    for (int i = 0; i < 3; ++i) linear(x, w, b);
    EXPECT_EQ(accounting->total(), after_first);
}

TEST(WeightCache, IsSharedByThreads) {
    const Tensor w = weight();
    const auto inside = f16_region().enter();
    mm(low_input(), w);
    std::thread([&] {
        const auto outer = AutocastRegion(here, true, DType::f16).enter();
        const CastCounter counter(w);
        mm(low_input(), w);
        EXPECT_EQ(counter.count(), 0);
    }).join();
}

TEST(WeightCache, ADirectWriteOfAnOptimizersCopyIsHandedOutWhileItIsNew) {
    const Tensor w = weight();
    const Tensor copy = Tensor::of({1, 2, 3, 4}, {2, 2}, DType::f16);
    w.impl()->low_copy = std::make_shared<LowCopy>(LowCopy{copy, w.version()});
    EXPECT_EQ(to(w, DType::f16).data(), copy.data());
    EXPECT_NE(to(w, DType::bf16).data(), copy.data());
    w.bump_version();
    EXPECT_NE(to(w, DType::f16).data(), copy.data());
}

TEST(WeightCache, GradientsOfSharedUsesAddInLowAndWithoutTheCacheInF32) {
    // Two uses with gradients 2048 and 1: their sum, 2049, is not an f16 number.
    const auto gradient = [](bool cache) {
        Tensor w = Tensor::full({1, 1}, 1, DType::f32);
        w.set_requires_grad(true);
        Tensor y;
        {
            const auto inside = f16_region(true, cache).enter();
            y = add(to(mm(Tensor::full({1, 1}, 2048, DType::f16), w), DType::f32),
                    to(mm(Tensor::full({1, 1}, 1, DType::f16), w), DType::f32));
        }
        backward(sum(y));
        return w.grad().item();
    };
    EXPECT_EQ(gradient(true), 2048);
    EXPECT_EQ(gradient(false), 2049);
}

/// A weight of one number with the copy that an optimizer keeps.
Tensor copied_weight() {
    Tensor w = Tensor::full({1, 1}, 1, DType::f32);
    w.set_requires_grad(true);
    w.impl()->low_copy =
        std::make_shared<LowCopy>(LowCopy{to(w.detach(), DType::f16), w.version()});
    return w;
}
/// Its product with a number, whose gradient by the weight is that number.
Tensor product_with(double number, const Tensor& w, bool cache = true) {
    const auto inside = f16_region(true, cache).enter();
    return to(mm(Tensor::full({1, 1}, number, DType::f16), w), DType::f32);
}

TEST(LowGradients, LeaveTheGradientOfAWeightThatHasACopyInItsType) {
    const LowGradients low(true);
    const Tensor w = copied_weight();
    backward(product_with(3, w));
    EXPECT_EQ(w.grad().dtype(), DType::f16);
    EXPECT_EQ(w.grad().item(), 3);
    const Tensor without = weight();
    {
        const auto inside = f16_region().enter();
        backward(sum(to(mm(low_input(), without), DType::f32)));
    }
    EXPECT_EQ(without.grad().dtype(), DType::f32) << "no optimizer keeps a copy of it";
}

TEST(LowGradients, AreNotLeftWithoutTheScopeNorReturnedNorDifferentiatedAgain) {
    const Tensor w = copied_weight();
    backward(product_with(3, w));
    EXPECT_EQ(w.grad().dtype(), DType::f32);
    const LowGradients low(true);
    const Tensor y = product_with(3, w), z = product_with(3, w);
    EXPECT_EQ(grad({&y, 1}, {&w, 1})[0].dtype(), DType::f32);
    w.set_grad({});
    backward({&z, 1}, {}, {.create_graph = true});
    EXPECT_EQ(w.grad().dtype(), DType::f32);
    const LowGradients off(false);
    w.set_grad({});
    backward(product_with(3, w));
    EXPECT_EQ(w.grad().dtype(), DType::f32);
}

// 2048 + 1 is no f16 value.
TEST(LowGradients, AreAddedUpInTheTypeOfTheWeight) {
    const LowGradients low(true);
    const Tensor w = copied_weight();
    backward(product_with(2048, w));
    backward(product_with(1, w));
    EXPECT_EQ(w.grad().dtype(), DType::f32);
    EXPECT_EQ(w.grad().item(), 2049) << "of two passes";
    w.set_grad({});
    backward(add(product_with(2048, w, false), product_with(1, w, false)));
    EXPECT_EQ(w.grad().item(), 2049) << "of two casts in one pass";
}

/// Lists the casts of f16 gradients, and gradients with their types; in brackets what is shown
/// aside.
class ShownGradients final : public OpObserver {
public:
    void on_op(const OpEvent& event) override {
        if (event.in_backward && event.info == &cast_op && event.inputs[0].dtype() == DType::f16)
            add("cast");
    }
    void on_gradient(const Op& to, const Tensor& gradient) override {
        if (&to == &cast_op && gradient.dtype() == DType::f16) add("of the cast");
        if (to.name == "accumulate_grad") add(std::string("of the weight ") + name(gradient.dtype()));
    }
    void on_aside(bool begins) override { aside_ = begins; }

    std::vector<std::string> seen;

private:
    void add(const std::string& text) { seen.push_back(aside_ ? "(" + text + ")" : text); }

    bool aside_ = false;
};

TEST(LowGradients, AreShownCastAside) {
    const LowGradients low(true);
    const Tensor w = copied_weight();
    ShownGradients shown;
    const ObserverScope attached(shown);
    backward(product_with(3, w));
    EXPECT_EQ(w.grad().dtype(), DType::f16) << "as without an observer";
    EXPECT_THAT(shown.seen, ElementsAre("(of the cast)", "(cast)", "(of the weight f32)"));
    shown.seen.clear();
    backward(product_with(3, w));
    EXPECT_EQ(w.grad().item(), 6);
    EXPECT_THAT(shown.seen, ElementsAre("of the cast", "cast", "of the weight f32", "of the cast", "cast"))
        << "it is cast to be added to the first one, which is cast then";
}

}  // namespace
}  // namespace engine
