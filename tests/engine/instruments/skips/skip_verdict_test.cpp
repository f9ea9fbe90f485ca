#include "instruments/skips/skip_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planted_faults.h"
#include "train/run/advice.h"

namespace engine {
namespace {

using test::pair_run;
using test::PlantedLoss;

/// Expects this cause, operation and pass for the fault.
void expect_found(const std::string& precision, const PlantedLoss& loss, SkipCause cause,
                  const std::string& op, SkipStage stage) {
    const RunConfig config = pair_run(precision);
    const auto tests = test::verdict_of(config, loss);
    ASSERT_EQ(tests.size(), 6U);
    EXPECT_EQ(find_cause(tests), cause) << name(find_cause(tests));
    EXPECT_EQ(std::ranges::count(tests, true, &SkipTest::found), 1);
    const auto first = test::TracedStep(config, loss).trace->first();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->op, op);
    EXPECT_EQ(first->stage, stage);
}

Tensor log_of_zero(const Tensor& x) { return mean(log(mul(x, 0))); }
Tensor zero_normalised(const Tensor& x) {
    const Tensor zero = mul(x, 0);
    return mean(div(zero, sum(square(zero))));
}
Tensor root_of_zero(const Tensor& x) { return mean(sqrt(mul(x, 0))); }
/// x / sqrt(E[x^2] - E[x]^2 + 1e-8) of numbers that are all 3, plus the layer's outputs.
Tensor composed_norm(const Tensor& x) {
    const Tensor same = add(mul(x, 0), 3);
    const Tensor variance = sub(mean(square(same)), square(mean(same)));
    return mean(mul(sub(same, mean(same)), rsqrt(add(variance, 1e-8))));
}
Tensor exponential(const Tensor& x) { return mean(exp(add(mul(x, 0), 12))); }
Tensor long_sum(const Tensor& x) {
    return add(sum(Tensor::full({100000}, 1, x.dtype(), x.device())), mean(x));
}

TEST(SkipVerdict, LogOfZero) {
    expect_found("amp-fp16", log_of_zero, SkipCause::mathematical, "log", SkipStage::forward);
    expect_found("pure-fp16", log_of_zero, SkipCause::mathematical, "log", SkipStage::forward);
}

TEST(SkipVerdict, ZeroVectorNormalisedWithoutEpsilon) {
    expect_found("amp-fp16", zero_normalised, SkipCause::mathematical, "div", SkipStage::forward);
}

TEST(SkipVerdict, GradientOfTheRootOfZero) {
    const RunConfig config = pair_run("amp-fp16");
    EXPECT_EQ(find_cause(test::verdict_of(config, root_of_zero)), SkipCause::mathematical);
    const test::TracedStep step(config, root_of_zero);
    EXPECT_TRUE(step.trace->loss_is_finite());
    EXPECT_EQ(step.trace->first()->stage, SkipStage::backward);
}

/// In FP32 it is finite, since 1e-8 is not 0 there.
TEST(SkipVerdict, EpsilonThatVanishesInFP16) {
    const test::TracedStep shadow(pair_run("fp32"), composed_norm);
    EXPECT_FALSE(shadow.trace->first());
    expect_found("pure-fp16", composed_norm, SkipCause::mathematical, "rsqrt", SkipStage::forward);
}

TEST(SkipVerdict, ExponentialOfTwelve) {
    expect_found("pure-fp16", exponential, SkipCause::forward_overflow, "exp", SkipStage::forward);
}

TEST(SkipVerdict, SumOfAHundredThousandOnes) {
    expect_found("pure-fp16", long_sum, SkipCause::forward_overflow, "sum", SkipStage::forward);
}

TEST(SkipVerdict, AdamWithoutEpsilonOnZeroGradients) {
    RunConfig config = pair_run("fp32");
    config.optimizer.kind = "adam";
    config.optimizer.options = {{"lr", 0.1}, {"eps", 0.0}};
    const auto loss = [](const Tensor& x) { return mean(mul(x, 0)); };
    const auto tests = test::verdict_of(completed(config), loss);
    EXPECT_EQ(find_cause(tests), SkipCause::optimizer);
    const auto first = test::TracedStep(completed(config), loss).trace->first();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->name, "first.weight");
    EXPECT_EQ(first->stage, SkipStage::update);
    EXPECT_EQ(first->nan, 64);
}

/// The gradient is 2^20 in FP32, so no scale that is tried brings it into range.
TEST(SkipVerdict, GradientsBeyondTheRangeAtScaleOneAreNoQuestionOfTheScale) {
    const auto loss = [](const Tensor& x) { return sum(mul(mul(mul(x, 0), 1024.0), 1024.0)); };
    const auto tests =
        test::verdict_of(pair_run("pure-fp16"), loss, {{.scale = 1, .passes = false}});
    EXPECT_EQ(find_cause(tests), SkipCause::forward_overflow);
}

TEST(SkipVerdict, AFiniteStepHasNoCause) {
    const auto tests =
        test::verdict_of(pair_run("amp-fp16"), [](const Tensor& x) { return mean(square(x)); });
    EXPECT_EQ(find_cause(tests), SkipCause::unknown);
    ASSERT_EQ(tests.size(), 6U);
    for (const SkipTest& test : tests) EXPECT_FALSE(test.finding.empty());
}

TEST(SkipVerdict, AdvisesInTheWordsThatOtherPlacesUse) {
    SkipReport report;
    report.passing_scale = 1024;
    EXPECT_EQ(advice_for(SkipCause::bad_input, report).str(), non_finite_input_advice().str());
    EXPECT_EQ(advice_for(SkipCause::forward_overflow, report).str(),
              forward_overflow_advice().str());
    report.skipped = false;
    EXPECT_EQ(advice_for(SkipCause::scale_too_large, report).str(),
              static_scale_advice("2¹⁰").str());
}

}  // namespace
}  // namespace engine
