#include "amp/autocast.h"
#include "support/here.h"

#include <gtest/gtest.h>

#include <cmath>

#include "autograd/backward.h"
#include "engine/base/error.h"
#include "op_samples.h"
#include "ops/catalog/catalog.h"
#include "ops/linalg/linear.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/norm.h"
#include "ops/loss/loss.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/result_type.h"

namespace engine {
namespace {

constexpr DType lows[] = {DType::f16, DType::bf16};

AutocastRegion region(DType low, bool enabled = true) { return AutocastRegion(here, enabled, low); }

TensorList cast_by_hand(const TensorList& args, DType dtype) {
    TensorList out;
    for (const auto& x : args) out.push_back(to(x, dtype));
    return out;
}

std::vector<OpSample> samples_of(std::initializer_list<CastPolicy> policies) {
    std::vector<OpSample> out;
    for (const auto& sample : op_samples()) {
        const Op* info = find_op(sample.op);  // null: a form composed of several ops
        for (const auto policy : policies) {
            if (info && info->policy == policy) out.push_back(sample);
        }
    }
    return out;
}

// On a GPU the order of a sum depends on the width of the loads, and so on the input's type. The
// samples sum at most a few dozen f32 values; the results may differ by one rounding per value,
// relative to the largest.
void expect_equal(const Tensor& got, const Tensor& expected, const OpSample& sample) {
    EXPECT_EQ(got.dtype(), expected.dtype()) << sample.op << " " << sample.label;
    if (default_device().kind == Device::Kind::cpu || got.dtype() != DType::f32) {
        EXPECT_EQ(got.values(), expected.values()) << sample.op << " " << sample.label;
        return;
    }
    const auto a = got.values(), b = expected.values();
    double largest = 0;
    for (const double value : b) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < a.size(); ++i)
        EXPECT_NEAR(a[i], b[i], 32 * 0x1p-24 * largest) << sample.op << " " << sample.label;
}

TEST(Autocast, A2A11LowOpsWithF32ArgumentsAreLowAndEqualTheControl) {
    for (const auto& sample : samples_of({CastPolicy::low})) {
        for (const DType low : lows) {
            const TensorList args = arguments(sample, DType::f32);
            Tensor inside;
            EXPECT_FALSE(autocast_enabled(here));
            {
                const auto entered = region(low).enter();
                EXPECT_TRUE(autocast_enabled(here));
                inside = sample.call(args);
                EXPECT_TRUE(autocast_enabled(here));
            }
            EXPECT_FALSE(autocast_enabled(here));
            EXPECT_EQ(inside.dtype(), low);
            expect_equal(inside, sample.call(cast_by_hand(args, low)), sample);
        }
    }
}

TEST(Autocast, A3A12F32OpsWithLowArgumentsAreF32AndEqualTheControl) {
    const auto samples =
        samples_of({CastPolicy::f32, CastPolicy::f32_dtype, CastPolicy::f32_append});
    EXPECT_GT(samples.size(), 15u);
    for (const auto& sample : samples) {
        for (const DType low : lows) {
            const TensorList args = arguments(sample, low);
            const auto entered = region(low).enter();
            const Tensor inside = sample.call(args);
            EXPECT_EQ(inside.dtype(), DType::f32) << sample.op;
            const auto off = region(low, false).enter();
            expect_equal(inside, sample.call(cast_by_hand(args, DType::f32)), sample);
        }
    }
}

TEST(Autocast, A4A13PromoteOpsWithMixedArgumentsAreF32AndEqualTheControl) {
    for (const auto& sample : samples_of({CastPolicy::promote})) {
        for (const std::size_t low_one : {0, 1}) {
            TensorList args = arguments(sample, DType::f32);
            args[low_one] = to(args[low_one], DType::f16);
            const auto entered = region(DType::f16).enter();
            const Tensor inside = sample.call(args);
            EXPECT_EQ(inside.dtype(), DType::f32);
            const auto off = region(DType::f16, false).enter();
            expect_equal(inside, sample.call(cast_by_hand(args, DType::f32)), sample);
        }
    }
}

TEST(Autocast, A14NativePromotionOfMixedArgumentsIsF32OrBool) {
    for (const DType low : lows) {
        const auto entered = region(low).enter();
        const Tensor a = Tensor::full({3}, 1, low), b = Tensor::full({3}, 2, DType::f32);
        using Op = Tensor (*)(const Tensor&, const Tensor&);
        for (const Op op : std::initializer_list<Op>{add, sub, mul, div, maximum, minimum}) {
            EXPECT_EQ(op(a, b).dtype(), DType::f32);
            EXPECT_EQ(op(b, a).dtype(), DType::f32);
        }
        for (const auto op : {equal, not_equal, less, less_equal, greater, greater_equal})
            EXPECT_EQ(op(a, b).dtype(), DType::boolean);
        EXPECT_EQ(cat({a, b}, 0).dtype(), DType::f32);
    }
}

TEST(Autocast, M5AtPromoteTheOther16BitTypeMetFirstIsAnError) {
    const auto entered = region(DType::bf16).enter();
    const Tensor other = Tensor::full({2}, 1, DType::f16), wide = Tensor::full({2}, 1, DType::f32);
    EXPECT_THROW(atan2(other, wide), Error);
    EXPECT_EQ(atan2(wide, other).dtype(), DType::f32);
    EXPECT_EQ(atan2(Tensor::full({2}, 1, DType::bf16), Tensor::full({2}, 1, DType::bf16)).dtype(),
              DType::bf16);
}

/// A row times a column of ones (or of `with`), inside a region.
double product(DType low, const std::vector<double>& row, double with = 1) {
    const auto entered = region(low).enter();
    const auto n = static_cast<std::int64_t>(row.size());
    return mm(Tensor::of(row, {1, n}), Tensor::full({n, 1}, with, DType::f32)).item();
}

TEST(Autocast, M6ProductsInABf16RegionRoundOnceToEightBits) {
    EXPECT_EQ(product(DType::bf16, {256, 1}), 256);
    EXPECT_EQ(product(DType::bf16, {1, 0x1p-8}), 1);
    EXPECT_EQ(product(DType::bf16, {1, 3 * 0x1p-8}), 1.015625);
    EXPECT_EQ(product(DType::bf16, {65504}, 2), 131072);
}

TEST(Autocast, M7ProductsInAnF16RegionOverflowAndUnderflowAsF16Does) {
    EXPECT_EQ(product(DType::f16, {300}, 300), INFINITY);
    EXPECT_EQ(product(DType::f16, {65519}), 65504);
    EXPECT_EQ(product(DType::f16, {65520}), INFINITY);
    EXPECT_EQ(product(DType::f16, {2048, 1}), 2048);
    EXPECT_EQ(product(DType::f16, {2048, 3}), 2052);
    EXPECT_EQ(product(DType::f16, {0x1p-25}), 0);
}

TEST(Autocast, M8GradientsOfF32LeavesAreF32) {
    Tensor x = random_tensor({4, 3}, DType::f32, 1), w = random_tensor({2, 3}, DType::f32, 2),
           b = random_tensor({2}, DType::f32, 3);
    for (auto* t : {&x, &w, &b}) t->set_requires_grad(true);
    Tensor y;
    {
        const auto entered = region(DType::f16).enter();
        y = linear(x, w, b);
    }
    EXPECT_EQ(y.dtype(), DType::f16);
    backward(sum(to(y, DType::f32)));
    for (const auto* t : {&x, &w, &b}) EXPECT_EQ(t->grad().dtype(), DType::f32);
}

TEST(Autocast, ALowLeafOfTheOtherTypeGetsAGradientOfItsOwnType) {
    Tensor w = Tensor::full({2, 2}, 1, DType::bf16);
    w.set_requires_grad(true);
    Tensor y;
    {
        const auto entered = region(DType::f16).enter();
        y = mm(Tensor::full({2, 2}, 1, DType::f16), w);
    }
    backward(sum(y));
    EXPECT_EQ(w.grad().dtype(), DType::bf16);
}

TEST(Autocast, A8TheSameOpInTwoRegionsGivesEqualResults) {
    const Tensor x = random_tensor({8, 8}, DType::f32, 1), w = random_tensor({8, 8}, DType::f32, 2);
    const auto run = [&] {
        const auto entered = region(DType::f16).enter();
        return mm(x, w).values();
    };
    EXPECT_EQ(run(), run());
}

TEST(Autocast, A10ThreeForwardsOfOneLayerInOneRegionEachHaveABackward) {
    const Tensor x = random_tensor({8, 8}, DType::f32, 1);
    const auto gradient = [&](bool shared) {
        Tensor w = random_tensor({8, 8}, DType::f32, 2);
        w.set_requires_grad(true);
        TensorList results;
        if (shared) {
            const auto entered = region(DType::f16).enter();
            for (int i = 0; i < 3; ++i) results.push_back(linear(x, w));
        } else {
            for (int i = 0; i < 3; ++i)
                results.push_back(linear(to(x, DType::f16), to(w, DType::f16)));
        }
        for (const auto& y : results) backward(sum(y, {}, false, DType::f32));
        return w.grad().values();
    };
    EXPECT_EQ(gradient(true), gradient(false));
}

TEST(Autocast, TwoLossesOfOneRegionEachAddTheirGradientToTheSharedWeight) {
    const Tensor first = random_tensor({4, 8}, DType::f32, 1);
    const Tensor second = random_tensor({4, 8}, DType::f32, 2);
    const auto loss = [](const Tensor& x, const Tensor& w) {
        return sum(mm(x, w), {}, false, DType::f32);
    };
    Tensor shared = random_tensor({8, 8}, DType::f32, 3);
    shared.set_requires_grad(true);
    {
        const auto entered = region(DType::f16).enter();
        const Tensor a = loss(first, shared), b = loss(second, shared);
        backward(a);
        backward(b);
    }
    Tensor apart = random_tensor({8, 8}, DType::f32, 3);
    apart.set_requires_grad(true);
    for (const Tensor& x : {first, second}) {
        const auto entered = region(DType::f16).enter();
        backward(loss(x, apart));
    }
    EXPECT_EQ(shared.grad().values(), apart.grad().values());
}

TEST(Autocast, AccumulationInsideOneRegionAddsTheGradientOfEachMicroBatch) {
    const auto gradient = [&](bool one_region) {
        Tensor w = random_tensor({8, 8}, DType::f32, 3);
        w.set_requires_grad(true);
        const auto micro_batch = [&](int i) {
            const Tensor x = random_tensor({4, 8}, DType::f32, static_cast<unsigned>(10 + i));
            backward(sum(mm(x, w), {}, false, DType::f32));
        };
        if (one_region) {
            const auto entered = region(DType::f16).enter();
            for (int i = 0; i < 3; ++i) micro_batch(i);
        } else {
            for (int i = 0; i < 3; ++i) {
                const auto entered = region(DType::f16).enter();
                micro_batch(i);
            }
        }
        return w.grad().values();
    };
    EXPECT_EQ(gradient(true), gradient(false));
}

TEST(Autocast, A15PowWithANumberOnEitherSideActsAsPow) {
    const auto entered = region(DType::f16).enter();
    const Tensor x = Tensor::full({2}, 300, DType::f16);
    EXPECT_EQ(pow(x, 2.0).values(), (std::vector<double>{90000, 90000}));
    EXPECT_EQ(pow(scalar_like(x, 2), Tensor::full({1}, 17, DType::f16)).item(), 131072);
    EXPECT_EQ(square(x).dtype(), DType::f32);
}

TEST(Autocast, A16BinaryCrossEntropyIsBannedInARegionWhateverTheTypes) {
    for (const DType dtype : {DType::f16, DType::f32, DType::f64}) {
        const Tensor p = Tensor::full({2}, 0.5, dtype);
        const auto entered = region(DType::f16).enter();
        try {
            binary_cross_entropy(p, p);
            FAIL() << name(dtype);
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find("unsafe under autocast"), std::string::npos);
            EXPECT_NE(error.hint().str().find("with_logits"), std::string::npos);
        }
        const auto off = region(DType::f16, false).enter();
        EXPECT_EQ(binary_cross_entropy(p, p).dtype(), dtype);
    }
    const auto entered = region(DType::f16).enter();
    const Tensor logits = Tensor::full({2}, 0.5, DType::f16);
    EXPECT_EQ(binary_cross_entropy_with_logits(logits, logits).dtype(), DType::f32);
}

TEST(Autocast, A17F64AndIntegersAreLeftAlone) {
    const auto entered = region(DType::f16).enter();
    const Tensor wide = Tensor::full({2, 2}, 3, DType::f64);
    EXPECT_EQ(mm(wide, wide).dtype(), DType::f64);
    EXPECT_EQ(pow(wide, 2.0).dtype(), DType::f64);
    EXPECT_EQ(sum(wide).dtype(), DType::f64);
    EXPECT_EQ(norm(wide).dtype(), DType::f64);
    EXPECT_EQ(sum(Tensor::full({2}, 3, DType::i64)).dtype(), DType::i64);
    EXPECT_THROW(mm(wide, Tensor::full({2, 2}, 1, DType::f16)), Error);
    EXPECT_THROW(mm(wide, Tensor::full({2, 2}, 1, DType::f32)), Error);
}

TEST(Autocast, ARegionIsOffInsideAListedOp) {
    struct Inside final : OpObserver {
        void on_op(const OpEvent& event) override {
            if (std::string(event.info->name) == "bmm") off = !autocast_enabled(here);
        }
        bool off = false;
    } inside;
    const ObserverScope watching(inside);
    const auto entered = region(DType::f16).enter();
    matmul(Tensor::full({2, 2, 2}, 1, DType::f32), Tensor::full({2, 2, 2}, 1, DType::f32));
    EXPECT_TRUE(inside.off);
}

TEST(Autocast, BackwardRunsInTheTypesOfForwardWhetherOrNotARegionIsOn) {
    const auto gradient = [](bool inside_region) {
        Tensor w = random_tensor({4, 4}, DType::f32, 1);
        w.set_requires_grad(true);
        const auto entered = region(DType::bf16).enter();
        const Tensor y = sum(mm(random_tensor({4, 4}, DType::f32, 2), w));
        if (inside_region) {
            backward(y);
        } else {
            const auto off = region(DType::bf16, false).enter();
            backward(y);
        }
        return w.grad().values();
    };
    EXPECT_EQ(gradient(true), gradient(false));
}

TEST(Autocast, DoubleBackwardKeepsTheTypes) {
    Tensor x = random_tensor({3, 3}, DType::f32, 1), w = random_tensor({3, 3}, DType::f32, 2);
    x.set_requires_grad(true);
    w.set_requires_grad(true);
    Tensor y;
    {
        const auto entered = region(DType::f16).enter();
        y = sum(tanh(mm(x, w)));
    }
    const Tensor slope = grad({&y, 1}, {&x, 1}, {}, {.create_graph = true})[0];
    EXPECT_EQ(slope.dtype(), DType::f32);
    backward(sum(mul(slope, slope)));
    EXPECT_EQ(w.grad().dtype(), DType::f32);
    EXPECT_EQ(x.grad().dtype(), DType::f32);
}

}  // namespace
}  // namespace engine
