#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "needs_cuda.h"
#include "ops/loss/cross_entropy.h"
#include "step_support.h"
#include "tasks/task_descriptor.h"
#include "tasks/word_masking.h"

namespace engine {
namespace {

using test::cuda;
using test::small_masked_run;
using test::TrainerFixture;
using testing::IsEmpty;

/// Rates of 0 keep the weights constant.
RunConfig frozen_masked_run(const std::string& precision, std::int64_t accumulate = 1) {
    RunConfig config = small_masked_run(precision);
    config.optimizer.options["lr"] = 0.0;
    config.optimizer.options["weight_decay"] = 0.0;
    config.accumulate = accumulate;
    return config;
}

/// The loss of window `index`: over all outputs of the model, ignoring tokens that are not masked.
double masked_loss_by_hand(TrainerFixture& fixture, std::int64_t index) {
    Batch batch;
    fixture.collator.make(batch, 0, index);
    const auto tokens = batch.fields[0].values<std::int64_t>();
    const auto original = batch.fields[1].values<std::int64_t>();
    const auto places = batch.fields[2].values<std::int64_t>();
    const std::int64_t window = batch.fields[0].shape[1];
    std::vector<double> wanted(tokens.size(), -100);
    for (std::int64_t row = 0; row < batch.rows(); ++row) {
        for (std::int64_t i = 0; i < masked_count(window); ++i) {
            const auto place = places[static_cast<std::size_t>(row * window + i)];
            const auto at = static_cast<std::size_t>(row * window + place);
            wanted[at] = static_cast<double>(original[at]);
        }
    }
    const GradMode off(false);
    const Tensor shown =
        Tensor::of({tokens.begin(), tokens.end()}, batch.fields[0].shape, DType::i64);
    const Tensor logits = fixture.trainer.model().forward({shown}).front();
    const auto count = static_cast<std::int64_t>(wanted.size());
    return cross_entropy(logits, Tensor::of(wanted, {count}, DType::i64)).item();
}

TEST(MaskedLanguageModel, LossIsTheMeanOverTheMaskedTokens) {
    TrainerFixture fixture(frozen_masked_run("fp32"), default_device());
    std::set<float> losses;
    for (int i = 0; i < 3; ++i) {
        const CompletedStep step = fixture.step(i);
        EXPECT_NEAR(static_cast<double>(step.row.loss), masked_loss_by_hand(fixture, i), 1e-5);
        EXPECT_EQ(step.sums.weight, static_cast<double>(4 * masked_count(12)));
        EXPECT_FLOAT_EQ(step.row.metric_1, std::exp(step.row.loss));
        EXPECT_EQ(step.row.samples, (i + 1) * 4 * 12) << "tokens";
        losses.insert(step.row.loss);
    }
    EXPECT_EQ(losses.size(), 3U);
}

TEST(MaskedLanguageModel, MicroBatchesAreConsecutiveWindows) {
    TrainerFixture two(frozen_masked_run("fp32", 2), default_device()),
        one(frozen_masked_run("fp32"), default_device());
    for (int i = 0; i < 2; ++i) {
        const double a = one.step(2 * i).sums.loss, b = one.step(2 * i + 1).sums.loss;
        EXPECT_EQ(two.step(i).sums.loss, a + b);
    }
}

TEST(MaskedLanguageModel, VocabularyHasOneMoreTokenAndAnEvaluationItsOwnMasks) {
    const RunConfig config = small_masked_run("fp32");
    TrainerFixture fixture(config, default_device());
    const Task& task = fixture.trainer.task();
    const std::int64_t words = fixture.data.data->schema()["tokens"].cardinality;
    EXPECT_EQ(task.model_shape().outputs, words + 1);
    EXPECT_EQ(task.schema(true)["tokens"].cardinality, words + 1);
    EXPECT_EQ(task.added_tokens(), std::vector<std::string>{"[MASK]"});
    Collator collator(fixture.data, task.schema(false), fixture.options);
    Batch training, first, second;
    fixture.collator.make(training, 0, 0);
    collator.make(first, 0, 0);
    collator.make(second, 1, 0);
    EXPECT_EQ(first.fields[0].bytes, second.fields[0].bytes);
    EXPECT_NE(first.fields[0].bytes, training.fields[0].bytes);
    EXPECT_EQ(first.fields[1].bytes, training.fields[1].bytes) << "the text itself";
}

TEST(MaskedLanguageModel, CountsMaskedTokensThatAreRight) {
    RunConfig config = small_masked_run("fp32");
    config.optimizer.kind = "adam";
    config.optimizer.options = {{"lr", 0.01}};
    TrainerFixture fixture(completed(config), default_device());
    double right = 0;
    for (int i = 0; i < 40; ++i) {
        const CompletedStep step = fixture.step(i % 8);
        right = step.sums.values[0];
        EXPECT_GE(right, 0);
        EXPECT_LE(right, step.sums.weight);
        EXPECT_FLOAT_EQ(step.row.metric_2, static_cast<float>(right / step.sums.weight));
    }
    EXPECT_GT(right, 0) << "spaces, at the least";
}

// With dropout, and with a shorter last window, which is not replayed.
TEST(MaskedLanguageModel, IsReplayedWithTheNumbersOfEagerSteps) {
    HALFTONE_NEEDS_CUDA();
    for (const char* precision : {"fp32", "amp-fp16"}) {
        SCOPED_TRACE(precision);
        RunConfig config = small_masked_run(precision);
        config.dataset.train_limit = 4 * 80;  // six windows of 12 and one of 7
        config.model.options["dropout"] = 0.25;
        TrainerFixture eager(config, cuda), recorded(config, cuda);
        eager.trainer.set_recording(false);
        const std::int64_t windows = eager.collator.batches_per_epoch();
        ASSERT_EQ(windows, 7);
        for (std::int64_t i = 0; i < 2 * windows; ++i) {
            SCOPED_TRACE(i);
            const StepRecord expected = eager.step(i % windows).row;
            const StepRecord row = recorded.step(i % windows).row;
            EXPECT_EQ(row.loss, expected.loss);
            EXPECT_EQ(row.metric_1, expected.metric_1);
            EXPECT_EQ(row.grad_norm, expected.grad_norm);
        }
        EXPECT_EQ(recorded.trainer.replayed_steps(), 2 * windows - 3 - 2) << "all full windows";
        EXPECT_THAT(recorded.trainer.take_warnings(), IsEmpty());
    }
}

}  // namespace
}  // namespace engine
