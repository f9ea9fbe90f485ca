#include "instruments/histograms/histogram_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "seen_step.h"
#include "step_support.h"
#include "support/click_run.h"

namespace engine {
namespace {

using test::by_module;
using test::pair_fixture;
using test::pair_run;
using test::SeenStep;
using test::small_run;
using test::small_text_run;
using test::TrainerFixture;

using Histograms = std::map<std::string, ExponentHistogram>;

Histograms of_kind(const HistogramSample& sample, HistogramKind kind) {
    Histograms out;
    for (const LayerHistogram& layer : sample.layers)
        if (layer.kind == kind) out[layer.layer] = layer.values;
    return out;
}

void expect_equal(const Histograms& actual, const Histograms& expected) {
    for (const auto& [layer, histogram] : expected) {
        ASSERT_TRUE(actual.contains(layer)) << layer;
        EXPECT_EQ(actual.at(layer), histogram) << layer;
    }
    EXPECT_EQ(actual.size(), expected.size());
}

void expect_counts(const HistogramSample& sample, const SeenStep& seen) {
    expect_equal(of_kind(sample, HistogramKind::gradients), by_module(seen.gradients));
    expect_equal(of_kind(sample, HistogramKind::weights), by_module(seen.before));
    expect_equal(of_kind(sample, HistogramKind::updates), by_module(changes(seen)));
    Histograms activations;
    for (const auto& [module, values] : seen.activations)
        activations[module] = test::histogram_of(values);
    expect_equal(of_kind(sample, HistogramKind::activations), activations);
}

/// The histograms equal counts of the recorded tensors.
void expect_counts(const HistogramSample& sample, const CountedTensors& kept) {
    for (int number = 0; number < histogram_kind_count; ++number) {
        const auto kind = static_cast<HistogramKind>(number);
        Histograms counted;
        for (const auto& [name, tensor] : kept.of(kind))
            counted[test::module_of(name)] += test::histogram_of(tensor.values());
        SCOPED_TRACE(name(kind));
        expect_equal(of_kind(sample, kind), counted);
    }
}

struct Sampled {
    HistogramSample sample;
    std::shared_ptr<CountedTensors> kept;
    std::shared_ptr<SeenStep> seen;
    CompletedStep step;
};

/// Computes step `index` of the run, counted from 0.
Sampled sampled_step(TrainerFixture& fixture, std::int64_t index) {
    const auto sampler = std::make_shared<HistogramSampler>(1);
    const auto kept = std::make_shared<CountedTensors>();
    sampler->keep_tensors(kept);
    const auto seen = std::make_shared<SeenStep>();
    fixture.trainer.attach(seen);
    fixture.trainer.attach(sampler);
    CompletedStep step = fixture.step(index);
    fixture.trainer.detach(*seen);
    fixture.trainer.detach(*sampler);
    return {sampler->take().value(), kept, seen, std::move(step)};
}

struct Case {
    std::string name;
    RunConfig config;
};

std::vector<Case> cases() {
    std::vector<Case> out;
    for (const char* precision : {"fp32", "amp-fp16", "amp-bf16", "o2-fp16", "pure-fp16"})
        out.push_back({precision, small_run("lenet", precision)});
    out.push_back({"accumulated", small_run("lenet", "amp-fp16")});
    out.back().config.accumulate = 2;
    out.push_back({"text", small_text_run("amp-fp16")});
    out.push_back({"transformer", test::small_transformer_run("amp-fp16")});
    out.push_back({"recomputed", test::small_transformer_run("amp-fp16")});
    out.back().config.recompute = Recompute::blocks;
    out.push_back({"sparse", test::small_click_run("amp-fp16")});
    out.back().config.optimizer.kind = "sparse-adam";
    out.push_back({"skipped", small_run("lenet", "amp-fp16")});
    out.back().config.scaler.init_scale = 0x1p40;
    for (Case& each : out) each.config = completed(each.config);
    return out;
}

TEST(HistogramSampler, CountsWhatTheStepHad) {
    for (const Case& each : cases()) {
        SCOPED_TRACE(each.name);
        TrainerFixture fixture(each.config, default_device());
        for (std::int64_t index = 0; index < 2; ++index) {
            const Sampled found = sampled_step(fixture, index);
            EXPECT_EQ(found.sample.step, index + 1);
            EXPECT_EQ(static_cast<float>(found.sample.loss_scale), found.step.row.loss_scale);
            EXPECT_FALSE(found.sample.shadow);
            expect_counts(found.sample, *found.seen);
            expect_counts(found.sample, *found.kept);
            if (each.name == "skipped") {
                EXPECT_EQ(found.step.row.found_inf, 1);
                EXPECT_GT(found.sample.total(HistogramKind::gradients).non_finite(), 0);
                EXPECT_EQ(found.sample.total(HistogramKind::updates).finite_nonzero(), 0);
                EXPECT_TRUE(std::isnan(scale_floor(found.sample)));
            }
        }
    }
}

TEST(HistogramSampler, AddsUpPhasesAndMicroBatches) {
    const auto fixture = pair_fixture(pair_run("amp-fp16", 2), default_device(),
                                      std::make_unique<test::Adversaries>());
    const auto sampler = std::make_shared<HistogramSampler>(1);
    const auto seen = std::make_shared<SeenStep>();
    fixture->step->observers().attach(sampler);
    fixture->step->observers().attach(seen);
    fixture->make(0);
    fixture->compute();
    const HistogramSample sample = sampler->take().value();
    expect_counts(sample, *seen);
    const auto activations = of_kind(sample, HistogramKind::activations);
    // "first" gives 8 rows of 8: the discriminator computes real pictures, generated ones, and the
    // generated ones again; the generator computes once. There are two micro-batches.
    EXPECT_EQ(activations.at("first").total(), 2 * 3 * 64);
    EXPECT_EQ(activations.at("second").total(), 2 * 64);
    EXPECT_EQ(of_kind(sample, HistogramKind::gradients).size(), 2u);
}

TEST(HistogramSampler, KeepsLayersInTheOrderOfTheForwardPassUnderPyTorchsNames) {
    TrainerFixture fixture(small_run("lenet", "amp-fp16"), default_device());
    const HistogramSample sample = sampled_step(fixture, 0).sample;
    std::vector<std::string> order;
    for (const LayerHistogram& layer : sample.layers)
        if (layer.kind == HistogramKind::gradients) order.push_back(layer.layer);
    EXPECT_THAT(order, testing::ElementsAre("conv1", "conv2", "fc1", "fc2", "fc3"));
    // 16 samples, 6 channels, 24 x 24.
    EXPECT_EQ(sample.find("conv1", HistogramKind::activations)->values.total(), 16 * 6 * 24 * 24);
    EXPECT_EQ(sample.find("conv1", HistogramKind::activations)->type, ValueType::f16);
    EXPECT_EQ(sample.find("conv1", HistogramKind::gradients)->type, ValueType::f16);
    EXPECT_EQ(sample.find("conv1", HistogramKind::weights)->type, ValueType::f32);
}

TEST(HistogramSampler, DoesNotChangeTheTraining) {
    for (const char* precision : {"amp-fp16", "o2-fp16"}) {
        const RunConfig config = small_run("lenet", precision);
        TrainerFixture plain(config, default_device()), watched(config, default_device());
        const auto sampler = std::make_shared<HistogramSampler>(2);
        watched.trainer.attach(sampler);
        int samples = 0;
        for (std::int64_t index = 0; index < 5; ++index) {
            EXPECT_EQ(plain.step(index).row.loss, watched.step(index).row.loss);
            const auto sample = sampler->take();
            EXPECT_EQ(sample.has_value(), (index + 1) % 2 == 0);
            samples += sample ? 1 : 0;
        }
        EXPECT_EQ(samples, 2);
        const TrainingState a = plain.trainer.saved_state(), b = watched.trainer.saved_state();
        for (const auto& [name, value] : a.weights)
            EXPECT_EQ(value.values(), b.weights.at(name).values()) << name;
        for (const auto& [name, value] : a.optimizer)
            EXPECT_EQ(value.values(), b.optimizer.at(name).values()) << name;
    }
}

TEST(HistogramSampler, WantsTheStepsThatItIsAskedFor) {
    HistogramSampler never(0), tenth(10);
    EXPECT_FALSE(never.observes(10));
    EXPECT_TRUE(tenth.observes(20));
    EXPECT_FALSE(tenth.observes(21));
    never.request();
    EXPECT_TRUE(never.observes(3));
    EXPECT_EQ(never.take(), std::nullopt);
}

/// The smallest power of two at which at most a thousandth of the values is 2^-25 or less.
double floor_by_search(const test::Values& values) {
    for (int exponent = -60; exponent < 60; ++exponent) {
        const double scale = std::ldexp(1.0, exponent);
        std::int64_t nonzero = 0, lost = 0;
        for (const auto& entry : values)
            for (const double value : entry.second) {
                nonzero += value != 0 ? 1 : 0;
                lost += value != 0 && std::fabs(value) * scale < 0x1p-25 ? 1 : 0;
            }
        if (lost * 1000 <= nonzero) return scale;
    }
    return 0;
}

TEST(HistogramSampler, FindsTheFloorOfTheScaleWhereNothingWasFlushed) {
    TrainerFixture fixture(small_run("lenet", "fp32"), default_device());
    const Sampled found = sampled_step(fixture, 0);
    EXPECT_FALSE(found.sample.flushed(HistogramKind::gradients));
    EXPECT_EQ(scale_floor(found.sample), floor_by_search(found.seen->gradients));

    RunConfig config = small_run("lenet", "amp-fp16");
    config.scaler.init_scale = 0x1p-12;  // nearly all gradients underflow in FP16
    TrainerFixture flushed(config, default_device());
    const Sampled lost = sampled_step(flushed, 0);
    EXPECT_TRUE(lost.sample.flushed(HistogramKind::gradients));
    EXPECT_TRUE(std::isnan(scale_floor(lost.sample)));
}

}  // namespace
}  // namespace engine
