#include "train/step/step_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "models/network_model.h"
#include "needs_cuda.h"
#include "nn/layers.h"
#include "ops/pointwise/dropout.h"
#include "ops/shape/sum.h"
#include "step_support.h"
#include "support/expectations.h"
#include "train/step/make_optimizer.h"

// Compares captured steps with eager ones, bit for bit.
namespace engine {
namespace {

using test::Adversaries;
using test::cuda;
using test::numbers;
using test::pair_fixture;
using test::pair_run;
using test::StepFixture;
using testing::IsEmpty;

/// A step that is replayed if it can be.
kernels::StepFigures replayed(StepFixture& fixture, StepGraph& graph) {
    if (!graph.prepare(fixture.batches)) return fixture.compute();
    const RunContext::Entry entered(fixture.context);
    graph.replay(fixture.batches, *fixture.feed);
    return fixture.step->figures().host();
}

void expect_same_figures(const kernels::StepFigures& a, const kernels::StepFigures& b) {
    expect_same({a.sums.loss}, {b.sums.loss});  // NaN if a step overflows
    EXPECT_EQ(a.sums.weight, b.sums.weight);
    EXPECT_EQ(a.gradient_statistics.found_inf, b.gradient_statistics.found_inf);
    EXPECT_EQ(a.updates, b.updates);
    EXPECT_EQ(a.further_updates[0], b.further_updates[0]);
    EXPECT_EQ(a.next_loss_scale, b.next_loss_scale);
    EXPECT_EQ(a.growth_tracker, b.growth_tracker);
}

class StepGraphs : public testing::TestWithParam<std::int64_t> {};

// Two phases, tensors passed from one to the other, two optimizers. The replays include one in
// which only one optimizer skips, and a batch of another size.
TEST_P(StepGraphs, AStepOfTwoPhasesIsReplayedWithTheNumbersOfEagerSteps) {
    HALFTONE_NEEDS_CUDA();
    RunConfig config = pair_run("amp-fp16", GetParam());
    config.scaler.growth_interval = 2;
    const auto eager = pair_fixture(config, cuda, std::make_unique<Adversaries>());
    const auto recorded = pair_fixture(config, cuda, std::make_unique<Adversaries>());
    StepGraph graph(*recorded->step, recorded->task->schema(true), cuda, config.batch_size,
                    config.accumulate);
    constexpr int overflow = 5, ragged = 7, steps = 10;
    for (int i = 0; i < steps; ++i) {
        SCOPED_TRACE(i);
        for (const auto& fixture : {eager.get(), recorded.get()}) {
            fixture->make(i);
            if (i == overflow)
                test::fill_field(fixture->batches[0], 0, std::numeric_limits<float>::infinity());
            if (i == ragged) test::truncate(fixture->batches.back(), 3);
        }
        const auto expected = eager->compute(), found = replayed(*recorded, graph);
        expect_same_figures(found, expected);
        EXPECT_EQ(found.gradient_statistics.found_inf != 0, i == overflow);
        EXPECT_EQ(recorded->weights(), eager->weights());
    }
    EXPECT_EQ(graph.replays(), steps - 3 - 1);
    EXPECT_GT(graph.nodes(), 0);
    EXPECT_THAT(graph.take_warnings(), IsEmpty());
    EXPECT_EQ(recorded->step->update().optimizers()[0]->steps(), steps - 1);
    EXPECT_EQ(recorded->step->update().optimizers()[1]->steps(), steps);
}

INSTANTIATE_TEST_SUITE_P(Accumulate, StepGraphs, testing::Values(1, 2));

/// Its loss is the sum of its input after dropout, so it depends on the mask.
class Masked final : public SimpleModel {
public:
    explicit Masked(const Device& device)
        : SimpleModel(1, device), weight_(registry_.constant("weight", {64}, 1)) {}
    using SimpleModel::forward;
    Tensor forward(const Tensor& x) override {
        const Tensor y = mul(x, weight_);
        return training ? dropout(y, 0.5, random->source(), random->take(y.numel())) : y;
    }

private:
    Tensor weight_;
};

class SumOfMasked final : public Task {
public:
    const Schema& schema(bool) const override { return schema_; }
    ModelShape model_shape() const override { return {}; }
    TensorList losses(TaskStep& step) override {
        const Tensor loss = sum(step.forward(step.batch[0]));
        add_loss(step, loss, 1);
        return {loss};
    }

private:
    Schema schema_{{numbers("x", 64)}};
};

std::vector<double> losses_of(bool record, std::int64_t accumulate, std::unique_ptr<Model> model = std::make_unique<Masked>(cuda)) {
    RunConfig config = pair_run("fp32", accumulate);
    config.optimizer.options["lr"] = 0.0;  // only the masks differ between steps
    config.optimizer.options["weight_decay"] = 0.0;
    StepFixture fixture(config, std::make_unique<SumOfMasked>(), std::move(model), cuda);
    StepGraph graph(*fixture.step, fixture.task->schema(true), cuda, config.batch_size,
                    config.accumulate);
    graph.set_enabled(record);
    std::vector<double> losses;
    for (int i = 0; i < 8; ++i) {
        fixture.make(0);
        losses.push_back(replayed(fixture, graph).sums.loss);
    }
    EXPECT_EQ(graph.replays(), record ? 8 - 3 : 0);
    return losses;
}

TEST(StepGraph, EachReplayDrawsTheMasksThatTheEagerStepWouldDraw) {
    HALFTONE_NEEDS_CUDA();
    for (const std::int64_t accumulate : {1, 2}) {
        const std::vector<double> eager = losses_of(false, accumulate);
        EXPECT_EQ(losses_of(true, accumulate), eager);
        EXPECT_EQ(std::set<double>(eager.begin(), eager.end()).size(), eager.size())
            << "new masks in each step";
    }
}

TEST(StepGraph, ANetworkOfTheUsersOwnDrawsTheSameInAReplay) {
    HALFTONE_NEEDS_CUDA();
    const auto losses = [](bool record) {
        return losses_of(record, 1, make_network_model(R"(network(features):
  x: Linear(64)
  Unflatten(1, [8, 8])
  Rotary
  y = ReLU
  z = Constant(0.1)
  Where from y, above, z
  DropPath(0.3)
  Flatten
  Dropout(0.5)
  Linear(outputs)
)", {}, {.inputs = {{.name = "x", .kind = FieldKind::features, .shape = {64}}}, .outputs = 4}, 1, cuda));
    };
    const std::vector<double> eager = losses(false);
    EXPECT_EQ(losses(true), eager);
    EXPECT_EQ(std::set<double>(eager.begin(), eager.end()).size(), eager.size());
}

TEST(StepGraph, AReplayedStepHasTheRateOfItsUpdateTimesTheMultiplierOfTheMoment) {
    HALFTONE_NEEDS_CUDA();
    for (const char* kind : {"step", "one-cycle", "polynomial", "plateau"}) {
        SCOPED_TRACE(kind);
        RunConfig config = pair_run("fp32");
        config.schedule = {kind, {{"warmup_steps", std::int64_t{4}}}};
        config = completed(config);
        const auto fixture = pair_fixture(config, cuda, std::make_unique<Adversaries>());
        StepGraph graph(*fixture->step, fixture->task->schema(true), cuda, config.batch_size,
                        config.accumulate);
        const auto schedule = make_schedule(config, 100);
        double multiplier = 1;
        for (int i = 0; i < 9; ++i) {
            if (i % 3 == 2) {
                multiplier /= 4;
                const RunContext::Entry entered(fixture->context);
                fixture->step->update().set_rate_multiplier(multiplier);
            }
            fixture->make(i);
            const double expected = learning_rate(schedule, i) * multiplier;
            // One rounding to f32, and those of pow and cos in double on the device.
            EXPECT_NEAR(replayed(*fixture, graph).lr, expected, expected * 0x1p-23) << i;
        }
        EXPECT_EQ(graph.replays(), 9 - 3);
    }
}

TEST(StepGraph, AStepThatTheHostLooksIntoStaysEager) {
    HALFTONE_NEEDS_CUDA();
    const auto fixture = pair_fixture(pair_run("fp32"), cuda, std::make_unique<Adversaries>());
    StepGraph graph(*fixture->step, fixture->task->schema(true), cuda, 8, 1);
    int looks = 0;
    for (int i = 0; i < 6; ++i) {
        fixture->make(i);
        fixture->before_last_update(i == 4 ? std::function<void()>([&] { ++looks; }) : nullptr);
        (void)replayed(*fixture, graph);
    }
    EXPECT_EQ(looks, 1);
    EXPECT_EQ(graph.replays(), 6 - 3 - 1);
}

TEST(StepGraph, OnACpuNothingIsCaptured) {
    const auto fixture = pair_fixture(pair_run("fp32"), Device{}, std::make_unique<Adversaries>());
    StepGraph graph(*fixture->step, fixture->task->schema(true), Device{}, 8, 1);
    for (int i = 0; i < 5; ++i) {
        fixture->make(i);
        EXPECT_FALSE(graph.prepare(fixture->batches));
        (void)fixture->compute();
    }
    EXPECT_EQ(graph.nodes(), 0);
}

}  // namespace
}  // namespace engine
