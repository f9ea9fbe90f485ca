#include "instruments/search/minimal_precision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "amp/dispatch.h"
#include "autograd/backward.h"
#include "engine/base/error.h"
#include "ops/linalg/linear.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/sum.h"
#include "tensor/module_scope.h"
#include "train/step/mixed_precision.h"

namespace engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// A search with given errors.
FoundPrecision found_with(const std::vector<OpPlace>& places,
                          const std::vector<std::vector<std::string>>& needed) {
    PrecisionSearchOptions options;
    options.tolerance = 0.5;
    return minimal_precision(places, options, [&](const ForcedTypes& forced) {
        // A trial passes if every place of one of the alternatives is in FP32.
        for (const auto& alternative : needed) {
            const bool all = std::ranges::all_of(alternative, [&](const std::string& key) {
                const auto own = forced.find(key);
                return own != forced.end() && own->second == ForcedType::fp32;
            });
            if (all) return 0.1;
        }
        return 1.0;
    });
}

std::vector<OpPlace> grid(int modules, int ops) {
    std::vector<OpPlace> out;
    for (int m = 0; m < modules; ++m)
        for (int o = 0; o < ops; ++o)
            out.push_back({"m" + std::to_string(m), "op" + std::to_string(o)});
    return out;
}

TEST(MinimalPrecision, FindsWhatIsNeededWhereverItIs) {
    EXPECT_THAT(found_with(grid(8, 4), {{"m5:op2"}}).fp32, ElementsAre("m5:op2"));
    EXPECT_THAT(found_with(grid(8, 4), {{"m0:op0", "m3:op3", "m7:op1"}}).fp32,
                UnorderedElementsAre("m0:op0", "m3:op3", "m7:op1"));
    EXPECT_THAT(found_with(grid(3, 2), {{"m1:op0", "m1:op1"}}).fp32,
                UnorderedElementsAre("m1:op0", "m1:op1"));
    EXPECT_THAT(found_with(grid(8, 4), {{}}).fp32, IsEmpty());
    EXPECT_THAT(found_with(grid(1, 1), {{"m0:op0"}}).fp32, ElementsAre("m0:op0"));
}

/// If several minimal sets exist it finds one, and none of that set's places can be left out.
TEST(MinimalPrecision, IsOneMinimal) {
    const std::vector<std::vector<std::string>> needed = {{"m0:op0", "m1:op1"}, {"m2:op0"}};
    const auto found = found_with(grid(4, 2), needed).fp32;
    const bool first = found == std::vector<std::string>{"m0:op0", "m1:op1"};
    const bool second = found == std::vector<std::string>{"m2:op0"};
    EXPECT_TRUE(first || second) << testing::PrintToString(found);
}

TEST(MinimalPrecision, TriesEachSetOnceAndKeepsTheEvidence) {
    const FoundPrecision found = found_with(grid(8, 4), {{"m5:op2"}});
    std::vector<std::vector<std::string>> sets;
    for (const auto& trial : found.trials) {
        EXPECT_EQ(std::ranges::count(sets, trial.fp32), 0);
        sets.push_back(trial.fp32);
        EXPECT_EQ(trial.passed, trial.error <= 0.5);
    }
    EXPECT_EQ(found.error, 0.1);
    EXPECT_EQ(found.operations, 32);
}

TEST(MinimalPrecision, RefusesWhereNothingHelpsAndStopsWhenAsked) {
    EXPECT_THROW(found_with(grid(2, 2), {}), Error);
    PrecisionSearchOptions options;
    options.on_trial = [](const PrecisionTrial&) { return false; };
    EXPECT_THROW(minimal_precision(grid(2, 2), options, [](const ForcedTypes&) { return 0.0; }),
                 Error);
}

/// A small network of real operations. Up to three of them overflow in FP16: an exp of 12 (162755),
/// a sum of 100,000 ones, and the square of a distance of 300 (90000).
class Planted {
public:
    Planted(bool exponential, bool long_sum, bool distance)
        : exponential_(exponential), long_sum_(long_sum), distance_(distance) {
        weight_ = Tensor::of({0.5, -0.25, 0.125, 0.75}, {2, 2}, DType::f32, Device{});
        weight_.set_requires_grad(true);
    }

    std::vector<OpPlace> places() const {
        std::vector<OpPlace> out = {
            {"body", "linear"}, {"body", "tanh"}, {"head", "linear"}, {"head", "sum"}};
        if (exponential_) out.insert(out.begin() + 2, {{"gate", "tanh"}, {"gate", "exp"}});
        if (long_sum_) out.insert(out.begin(), {{"count", "relu"}, {"count", "sum"}});
        if (distance_) out.insert(out.end(), {{"far", "abs"}, {"far", "square"}});
        return out;
    }

    /// Relative error of the gradient against that in FP32.
    double error(const ForcedTypes& forced) const {
        const std::vector<double> exact = gradient({}), own = gradient(forced);
        double difference = 0, size = 0;
        for (std::size_t i = 0; i < exact.size(); ++i) {
            difference += (own[i] - exact[i]) * (own[i] - exact[i]);
            size += exact[i] * exact[i];
        }
        return std::isfinite(difference) ? std::sqrt(difference / size) : INFINITY;
    }

private:
    template <typename F>
    static Tensor inside(const ModuleName& module, const F& f) {
        const ModuleScope opened(module);
        return f();
    }

    std::vector<double> gradient(const ForcedTypes& forced) const {
        const ForceScope scope(force_rules(forced, {"body", "count", "far", "gate", "head"}));
        Tensor h = Tensor::of({1, 0.5}, {1, 2}, DType::f32, Device{});
        {
            const ModuleScope opened(body_);
            h = tanh(linear(h, weight_, {}));
        }
        // The operations that scale the large numbers down again are outside the modules, where no
        // type is forced. In FP16 they would have to stay in FP32 as well.
        if (exponential_) {
            h = add(inside(gate_, [&] { return tanh(h); }), 12.0);
            h = mul(inside(gate_, [&] { return exp(h); }), std::exp(-12.0));
        }
        Tensor loss;
        {
            const ModuleScope opened(head_);
            loss = sum(linear(h, weight_, {}));
        }
        if (long_sum_) {
            const Tensor ones = Tensor::full({100'000}, 1, DType::f32, Device{});
            const Tensor count = inside(count_, [&] { return sum(relu(ones)); });
            loss = mul(loss, mul(count, 1e-5));
        }
        if (distance_) {
            const Tensor far = Tensor::full({}, -300, DType::f32, Device{});
            loss = mul(loss, mul(inside(far_, [&] { return square(abs(far)); }), 1.0 / 90000));
        }
        weight_.set_grad({});
        {
            const ForceScope off(nullptr);
            backward(loss);
        }
        return weight_.grad().values();
    }

    bool exponential_, long_sum_, distance_;
    Tensor weight_;
    ModuleName body_{"body"}, gate_{"gate"}, head_{"head"}, count_{"count"}, far_{"far"};
};

std::vector<std::string> found_in(const Planted& net) {
    PrecisionSearchOptions options;
    options.tolerance = 0.02;
    return minimal_precision(net.places(), options,
                             [&](const ForcedTypes& forced) { return net.error(forced); })
        .fp32;
}

TEST(MinimalPrecision, FindsPlantedOperationsOfANetworkAndNoOther) {
    EXPECT_THAT(found_in(Planted(false, false, false)), IsEmpty());
    EXPECT_THAT(found_in(Planted(true, false, false)), ElementsAre("gate:exp"));
    EXPECT_THAT(found_in(Planted(false, true, false)), ElementsAre("count:sum"));
    EXPECT_THAT(found_in(Planted(false, false, true)), ElementsAre("far:square"));
    EXPECT_THAT(found_in(Planted(true, true, true)),
                UnorderedElementsAre("gate:exp", "count:sum", "far:square"));
}

}  // namespace
}  // namespace engine
