#include "instruments/skips/nonfinite_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planted_faults.h"
#include "tensor/cast.h"

namespace engine {
namespace {

using test::pair_run;
using test::TracedStep;
using testing::ElementsAre;

Tensor upper_triangle(const Tensor& scores) {
    std::vector<double> seen;
    for (std::int64_t row = 0; row < scores.size(0); ++row) {
        for (std::int64_t column = 0; column < scores.size(1); ++column)
            seen.push_back(column > row);
    }
    return Tensor::of(seen, scores.shape(), DType::boolean, scores.device());
}

/// softmax of scores whose later positions are -inf.
Tensor masked_attention(const Tensor& scores) {
    const Tensor weights = softmax(masked_fill(scores, upper_triangle(scores), -INFINITY), 1);
    return mean(mul(weights, scores));
}

TEST(NonfiniteTrace, OfAFiniteStepFindsNothing) {
    const TracedStep step(pair_run("amp-fp16"), [](const Tensor& x) { return mean(square(x)); });
    EXPECT_FALSE(step.trace->first());
    EXPECT_TRUE(step.trace->loss_is_finite());
    EXPECT_TRUE(step.trace->gradients_are_finite());
    EXPECT_TRUE(step.trace->weights_are_finite());
    EXPECT_GT(step.trace->operations(), 8);
}

TEST(NonfiniteTrace, AMaskOfInfinitiesIsNoFault) {
    const TracedStep step(pair_run("pure-fp16"), masked_attention);
    EXPECT_TRUE(step.trace->loss_is_finite());
    EXPECT_FALSE(step.trace->first());
}

/// In execution order the mask's infinities come first, but the fault is in the backward pass.
TEST(NonfiniteTrace, OverflowingGradientsBehindAMaskAreFoundWhereTheyOverflow) {
    RunConfig config = pair_run("amp-fp16");
    config.scaler.init_scale = 0x1p30;
    const TracedStep step(config, masked_attention);
    const auto first = step.trace->first();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->stage, SkipStage::backward);
    EXPECT_EQ(first->tensor.dtype, "f16");
    EXPECT_TRUE(step.trace->loss_is_finite());
    EXPECT_FALSE(step.trace->gradients_are_finite());
    EXPECT_NE(step.figures.gradient_statistics.found_inf, 0);
}

TEST(NonfiniteTrace, TellsWhatFedTheFirstTensorAndWhereItsFirstBadValueIs) {
    const TracedStep step(pair_run("pure-fp16"), [](const Tensor& x) {
        Tensor large = Tensor::zeros({2, 4}, x.dtype(), x.device());
        set_element(large, 5, 12);
        return add(sum(exp(large)), mean(x));
    });
    const auto first = step.trace->first();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->op, "exp");
    EXPECT_EQ(first->stage, SkipStage::forward);
    EXPECT_EQ(first->infinite, 1);
    EXPECT_EQ(first->nan, 0);
    EXPECT_EQ(first->total, 8);
    EXPECT_THAT(first->index, ElementsAre(1, 1));
    EXPECT_EQ(first->value, INFINITY);
    ASSERT_EQ(first->inputs.size(), 1U);
    EXPECT_EQ(first->inputs.front().dtype, "f16");
    EXPECT_EQ(first->inputs.front().largest, 12);
}

/// A layer whose outputs differ in type.
TEST(NonfiniteTrace, TheTypeOfALayerIsThatOfItsLargestValue) {
    const TracedStep step(pair_run("amp-fp16"), [](const Tensor& x) {
        const Tensor large = add(mul(x, 0), 1000);
        EXPECT_EQ(large.dtype(), DType::f16);
        return mul(mean(to(large, DType::f32)), 1e-3);
    });
    const auto& chain = step.trace->forward_chain();
    const auto link = std::ranges::find(chain, 1000, &ChainLink::largest);
    ASSERT_NE(link, chain.end());
    EXPECT_EQ(link->dtype, "f16");
}

TEST(NonfiniteTrace, NamesTheLayerWhoseOutputOverflowed) {
    auto fixture = test::pair_fixture(
        pair_run("pure-fp16"), default_device(),
        std::make_unique<test::PlantedTask>([](const Tensor& x) { return mean(x); }));
    const auto trace = std::make_shared<NonfiniteTrace>();
    fixture->step->observers().attach(trace);
    fixture->make(0);
    test::fill_field(fixture->batches[0], 0, 60000);
    set_element(dynamic_cast<test::PairModel&>(*fixture->model).first.weight, 3, 40);
    fixture->compute();
    ASSERT_TRUE(trace->first());
    EXPECT_EQ(trace->first()->module, "first");
    EXPECT_EQ(trace->first()->tensor.largest, INFINITY);
}

TEST(NonfiniteTrace, ANonFiniteWeightIsFoundBeforeTheStep) {
    auto fixture = test::pair_fixture(
        pair_run("fp32"), default_device(),
        std::make_unique<test::PlantedTask>([](const Tensor& x) { return mean(x); }));
    set_element(dynamic_cast<test::PairModel&>(*fixture->model).first.weight, 9, NAN);
    const auto trace = std::make_shared<NonfiniteTrace>();
    fixture->step->observers().attach(trace);
    fixture->make(0);
    fixture->compute();
    ASSERT_TRUE(trace->first());
    EXPECT_EQ(trace->first()->stage, SkipStage::state);
    EXPECT_EQ(trace->first()->name, "first.weight");
    EXPECT_THAT(trace->first()->index, ElementsAre(1, 1));
}

/// A weight that no output depends on.
TEST(NonfiniteTrace, DamageThatPlaysNoPartIsReportedBesideTheFault) {
    auto fixture = test::pair_fixture(
        pair_run("amp-fp16"), default_device(),
        std::make_unique<test::PlantedTask>([](const Tensor& x) { return mean(log(mul(x, 0))); }));
    set_element(dynamic_cast<test::PairModel&>(*fixture->model).second.bias, 0, NAN);
    const auto trace = std::make_shared<NonfiniteTrace>();
    fixture->step->observers().attach(trace);
    fixture->make(0);
    fixture->compute();
    ASSERT_TRUE(trace->first());
    EXPECT_EQ(trace->first()->op, "log");
    ASSERT_EQ(trace->bad_state().size(), 1U);
    EXPECT_EQ(trace->bad_state().front().name, "second.bias");
}

TEST(NonfiniteTrace, KeepsTheTensorOfAName) {
    const auto loss = [](const Tensor& x) { return mean(log(mul(x, 0))); };
    const TracedStep found(pair_run("amp-fp16"), loss);
    const std::string key = found.trace->first_key();
    ASSERT_NE(key, "");
    auto fixture = test::pair_fixture(pair_run("fp32"), default_device(),
                                      std::make_unique<test::PlantedTask>(loss));
    const auto trace = std::make_shared<NonfiniteTrace>(key);
    fixture->step->observers().attach(trace);
    fixture->make(0);
    fixture->compute();
    ASSERT_TRUE(trace->kept().defined());
    EXPECT_THAT(trace->kept().values(), testing::Each(-INFINITY));
    EXPECT_EQ(trace->largest(key), INFINITY);
    EXPECT_TRUE(std::isnan(trace->largest("no such tensor")));
}

}  // namespace
}  // namespace engine
