#include "ops/attention/scaled_scores.h"

#include <gtest/gtest.h>

#include <cmath>

#include "amp/autocast.h"
#include "tensor/observer.h"

namespace engine {
namespace {

Tensor heads(double step, DType dtype = DType::f32) {
    std::vector<double> values;
    for (int i = 0; i < 2 * 4 * 8; ++i) values.push_back(std::sin(step * i));
    return Tensor::of(values, {1, 2, 4, 8}, dtype);
}

bool finite(const Tensor& x) {
    for (const double v : x.values()) {
        if (!std::isfinite(v)) return false;
    }
    return true;
}

/// Counts multiplications by 300 and records the first infinite score.
class Watch final : public OpObserver {
public:
    void on_op(const OpEvent& event) override {
        if (std::string(event.info->name) != "mul") return;
        ++products;
        overflowed = overflowed || !finite(event.outputs.front());
    }
    int products = 0;
    bool overflowed = false;
};

TEST(ScaledScores, OverflowInFp16AndNotInF32OrBf16) {
    const auto overflows = [](DType dtype) {
        Watch watch;
        const ObserverScope attached(watch);
        const Tensor y = attention_of_scaled_scores(heads(0.3, dtype), heads(0.7, dtype),
                                                    heads(1.1, dtype), true);
        EXPECT_EQ(y.dtype(), dtype);
        EXPECT_EQ(finite(y), !watch.overflowed) << "softmax of an infinite score is NaN";
        EXPECT_GE(watch.products, 2);
        return watch.overflowed;
    };
    EXPECT_TRUE(overflows(DType::f16));
    EXPECT_FALSE(overflows(DType::bf16));
    EXPECT_FALSE(overflows(DType::f32));
}

TEST(ScaledScores, ARegionComputesThemInItsLowType) {
    const AutocastRegion region(Device::Kind::cpu, true, DType::f16);
    const auto entered = region.enter();
    const Tensor y = attention_of_scaled_scores(heads(0.3), heads(0.7), heads(1.1), false);
    EXPECT_EQ(y.dtype(), DType::f16);
    EXPECT_FALSE(finite(y));
}

TEST(ScaledScores, TheFirstModuleIsHitAndAgainWhenItIsComputedAgain) {
    const ModuleName first("h.0.attn"), second("h.1.attn");
    const auto hit = [](ModuleName name) {
        const ModuleScope opened(name);
        return ScaledScores::take_call();
    };
    EXPECT_FALSE(hit(first)) << "without the object";
    const ScaledScores scores("");
    EXPECT_FALSE(scores.met());
    EXPECT_TRUE(hit(first));
    EXPECT_FALSE(hit(second));
    EXPECT_TRUE(hit(first));
    EXPECT_TRUE(scores.met());
}

TEST(ScaledScores, ANamedModuleIsHitWithWhatIsInsideIt) {
    const auto hit = [](const char* name) {
        const ModuleScope opened{ModuleName(name)};
        return ScaledScores::take_call();
    };
    const ScaledScores scores("h.1");
    EXPECT_FALSE(hit("h.0.attn"));
    EXPECT_FALSE(hit("h.10.attn"));
    EXPECT_FALSE(scores.met());
    EXPECT_TRUE(hit("h.1.attn"));
    EXPECT_TRUE(hit("h.1"));
}

}  // namespace
}  // namespace engine
