#include "instruments/skips/skip_examination.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "capsule_support.h"
#include "temp_folder.h"

namespace engine {
namespace {

using test::capsule_after;
using test::plant;
using test::small_run;
using test::small_text_run;
using test::small_transformer_run;
using testing::IsEmpty;

TEST(SkipExamination, OrdinaryGradientsAtAScaleThatIsTooLarge) {
    RunConfig config = small_run("lenet", "amp-fp16");
    config.scaler.init_scale = 0x1p24;
    const SkipReport report = examine_step(capsule_after(config, 0));
    EXPECT_EQ(report.cause, SkipCause::scale_too_large);
    EXPECT_TRUE(report.skipped);
    EXPECT_EQ(report.loss_scale, 0x1p24);
    ASSERT_TRUE(report.first);
    EXPECT_EQ(report.first->stage, SkipStage::backward);
    EXPECT_EQ(report.first->tensor.dtype, "f16");
    EXPECT_GT(report.first->largest_in_f32, 60000);
    // The scale is halved each time. All scales but the last fail.
    ASSERT_GT(report.ladder.size(), 1U);
    for (std::size_t i = 0; i < report.ladder.size(); ++i) {
        EXPECT_EQ(report.ladder[i].scale, std::ldexp(1.0, 24 - static_cast<int>(i)));
        EXPECT_EQ(report.ladder[i].passes, i + 1 == report.ladder.size());
    }
    EXPECT_EQ(report.passing_scale, report.ladder.back().scale);
    // The bound from the FP32 gradients is less than one halving away, up to rounding.
    EXPECT_GT(report.scale_bound, 0.9 * report.passing_scale);
    EXPECT_LT(report.scale_bound, 2.2 * report.passing_scale);
    EXPECT_EQ(report.samples.size(), 16U);
    double shares = 0;
    for (const SampleShare& each : report.samples) shares += each.share;
    EXPECT_NEAR(shares, 1, 1e-9);
}

TEST(SkipExamination, AFiniteStepHasNoCause) {
    const SkipReport report = examine_step(capsule_after(small_run("lenet", "amp-bf16"), 1));
    EXPECT_EQ(report.cause, SkipCause::unknown);
    EXPECT_FALSE(report.first);
    EXPECT_FALSE(report.skipped);
}

TEST(SkipExamination, APixelThatIsNaN) {
    StepCapsule capsule = capsule_after(small_run("lenet", "amp-fp16"), 0);
    Batch& batch = capsule.batches.front();
    const auto pixels = batch.fields[0].values<float>();
    pixels[5 * pixels.size() / 16 + 7] = NAN;
    const SkipReport report = examine_step(capsule);
    EXPECT_EQ(report.cause, SkipCause::bad_input);
    ASSERT_TRUE(report.first);
    EXPECT_EQ(report.first->name, "image");
    EXPECT_EQ(report.first->nan, 1);
    EXPECT_EQ(report.first->index.front(), 5);
    ASSERT_FALSE(report.samples.empty());
    EXPECT_EQ(report.samples.front().sample, batch.indices[5]);
    EXPECT_EQ(report.samples.front().bad, 1);
}

TEST(SkipExamination, ATargetThatIsInfinite) {
    const test_support::TempFolder folder;
    std::ofstream table(folder / "table.csv");
    table << "x,y\n";
    for (int i = 0; i < 64; ++i) table << i * 0.1 << ',' << i % 7 << '\n';
    table.close();
    RunConfig config = small_run("mlp", "amp-fp16");
    config.dataset.kind = "csv";
    config.dataset.path = {(folder / "table.csv").string()};
    config.dataset.options = {{"target", std::string("y")}};
    config.task.kind = "regression";
    StepCapsule capsule = capsule_after(config, 0);
    capsule.batches.front().fields[1].values<float>()[3] = INFINITY;
    const SkipReport report = examine_step(capsule);
    EXPECT_EQ(report.cause, SkipCause::bad_input);
    EXPECT_EQ(report.first->infinite, 1);
    EXPECT_EQ(report.samples.front().row, 3);
}

TEST(SkipExamination, AWeightThatIsNaN) {
    StepCapsule capsule = capsule_after(small_run("lenet", "amp-fp16"), 2);
    const std::string name = "conv2.weight";
    ASSERT_TRUE(capsule.before.weights.contains(name)) << capsule.before.weights.begin()->first;
    plant(capsule.before.weights.at(name), 11, NAN);
    const SkipReport report = examine_step(capsule);
    EXPECT_EQ(report.cause, SkipCause::damaged_state);
    EXPECT_EQ(report.first->name, name);
    EXPECT_EQ(report.first->nan, 1);
    EXPECT_THAT(report.samples, IsEmpty());
}

TEST(SkipExamination, AnEmbeddingRowThatIsNaN) {
    StepCapsule capsule = capsule_after(small_text_run("amp-fp16"), 1);
    const std::string name = "encoder.weight";
    ASSERT_TRUE(capsule.before.weights.contains(name)) << capsule.before.weights.begin()->first;
    const std::int64_t token = capsule.batches.front().fields[0].values<std::int64_t>()[0];
    const Tensor& table = capsule.before.weights.at(name);
    plant(table, token * table.size(1), NAN);
    const SkipReport report = examine_step(capsule);
    EXPECT_EQ(report.cause, SkipCause::damaged_state);
    EXPECT_EQ(report.first->name, name);
    EXPECT_EQ(report.first->index.front(), token);
}

TEST(SkipExamination, ACarriedStateThatIsNaN) {
    StepCapsule capsule = capsule_after(small_text_run("amp-fp16"), 2);
    ASSERT_FALSE(capsule.before.carried.empty());
    plant(capsule.before.carried.at("0"), 3, NAN);
    const SkipReport report = examine_step(capsule);
    EXPECT_EQ(report.cause, SkipCause::damaged_state);
    EXPECT_EQ(report.first->name, "carried.0");
}

TEST(SkipExamination, AMomentOfTheOptimizerThatIsNaN) {
    RunConfig config = small_run("mlp", "amp-fp16");
    config.optimizer.kind = "adam";
    config = completed(config);
    StepCapsule capsule = capsule_after(config, 1);
    const auto moment = std::ranges::find_if(capsule.before.optimizer, [](const auto& each) {
        return each.first.ends_with("weight.exp_avg");
    });
    ASSERT_NE(moment, capsule.before.optimizer.end());
    plant(moment->second, 0, NAN);
    const SkipReport report = examine_step(capsule);
    EXPECT_EQ(report.cause, SkipCause::damaged_state);
}

/// Weights in the range of FP16 whose products overflow.
TEST(SkipExamination, AttentionWhoseQueriesOverflow) {
    StepCapsule capsule = capsule_after(small_transformer_run("amp-fp16"), 0);
    const auto weight = std::ranges::find_if(capsule.before.weights, [](const auto& each) {
        return each.first.find("attn") != std::string::npos && each.second.rank() == 2;
    });
    ASSERT_NE(weight, capsule.before.weights.end());
    float* const values = weight->second.data_as<float>();
    float largest = 0;
    for (std::int64_t i = 0; i < weight->second.numel(); ++i)
        largest = std::max(largest, std::abs(values[i]));
    for (std::int64_t i = 0; i < weight->second.numel(); ++i) values[i] *= 60000 / largest;
    const SkipReport report = examine_step(capsule);
    EXPECT_EQ(report.cause, SkipCause::forward_overflow) << report.verdict().str();
    EXPECT_EQ(report.first->stage, SkipStage::forward);
    EXPECT_THAT(report.first->module, testing::HasSubstr("attn"));
    EXPECT_GT(report.first->largest_in_f32, 65504);
    ASSERT_EQ(report.ladder.size(), 1U);
    EXPECT_EQ(report.ladder.front().scale, 1);
    EXPECT_FALSE(report.ladder.front().passes);
}

/// A step with a static scale is never skipped.
TEST(SkipExamination, AStaticScaleThatIsTooLarge) {
    RunConfig config = small_run("lenet", "pure-fp16");
    config.precision.scaler = ScalerMode::constant;
    config.scaler.init_scale = 0x1p24;
    const SkipReport report = examine_step(capsule_after(config, 0));
    EXPECT_EQ(report.cause, SkipCause::scale_too_large);
    EXPECT_FALSE(report.skipped);
    EXPECT_LT(report.passing_scale, 0x1p24);
}

TEST(SkipExamination, AccumulatedBatchesAndCarriedStreams) {
    RunConfig config = small_text_run("amp-fp16");
    config.accumulate = 2;
    config.scaler.init_scale = 0x1p36;
    const SkipReport report = examine_step(capsule_after(config, 1));
    EXPECT_EQ(report.cause, SkipCause::scale_too_large);
    EXPECT_FALSE(report.samples_note.empty());
}

}  // namespace
}  // namespace engine
