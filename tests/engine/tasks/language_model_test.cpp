#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "amp/autocast.h"
#include "needs_cuda.h"
#include "ops/loss/cross_entropy.h"
#include "ops/shape/view.h"
#include "step_support.h"
#include "support/element.h"

// A text in windows, and the state that is carried from one window to the next.
namespace engine {
namespace {

using test::cuda;
using test::small_text_run;
using test::small_transformer_run;
using test::TrainerFixture;
using testing::IsEmpty;

/// Rates of 0 keep the weights constant, so a step's result depends only on its window and state.
RunConfig frozen_text_run(const std::string& precision, std::int64_t accumulate = 1) {
    RunConfig config = small_text_run(precision);
    config.optimizer.options["lr"] = 0.0;
    config.optimizer.options["weight_decay"] = 0.0;
    config.accumulate = accumulate;
    return config;
}

TensorList cold(const Model& model, std::int64_t streams) {
    TensorList state;
    for (const Shape& shape : model.state_shapes(streams))
        state.push_back(Tensor::zeros(shape, DType::f32));
    return state;
}

/// Loss of window `index` with the state in `state`, which is then updated. `low`: computed in f16.
double text_loss_by_hand(TrainerFixture& fixture, std::int64_t index, TensorList& state,
                         bool low = false) {
    Batch batch;
    fixture.collator.make(batch, 0, index);
    const GradMode off(false);
    const DeviceBatch here = fixture.feed->upload(batch);
    TensorList inputs{here[0]};
    inputs.insert(inputs.end(), state.begin(), state.end());
    const AutocastRegion region(here[0].device().kind, low, DType::f16);
    const auto entered = region.enter();
    TensorList out = fixture.trainer.model().forward(inputs);
    state.assign(out.begin() + 1, out.end());
    const double loss = cross_entropy(out[0], flatten(contiguous(transpose(here[1], 0, 1)))).item();
    fixture.feed->used(here);
    return loss;
}

TEST(LanguageModel, EachStepReadsTheStateThatTheOneBeforeLeft) {
    TrainerFixture fixture(frozen_text_run("fp32"), default_device());
    TensorList state = cold(fixture.trainer.model(), 4);
    double without = 0;
    for (int i = 0; i < 4; ++i) {
        const double expected = text_loss_by_hand(fixture, i, state);
        TensorList none = cold(fixture.trainer.model(), 4);
        without += std::abs(text_loss_by_hand(fixture, i, none) - expected);
        const CompletedStep step = fixture.step(i);
        EXPECT_EQ(static_cast<double>(step.row.loss), expected) << "step " << i;
        EXPECT_EQ(step.sums.weight, 4 * 5) << "tokens";
        EXPECT_FLOAT_EQ(step.row.metric_1, static_cast<float>(std::exp(expected))) << "perplexity";
        EXPECT_TRUE(std::isnan(step.row.accuracy));
    }
    EXPECT_GT(without, 0) << "or the state is of no consequence";
}

TEST(LanguageModel, MicroBatchesOfAStepAreConsecutiveWindows) {
    TrainerFixture fixture(frozen_text_run("fp32", 2), default_device());
    TensorList state = cold(fixture.trainer.model(), 4);
    for (int i = 0; i < 3; ++i) {
        const double a = text_loss_by_hand(fixture, 2 * i, state),
                     b = text_loss_by_hand(fixture, 2 * i + 1, state);
        const CompletedStep step = fixture.step(i);
        EXPECT_EQ(step.sums.loss, 20 * a + 20 * b) << "step " << i;
        EXPECT_EQ(step.row.samples, (i + 1) * 40) << "tokens";
    }
}

TEST(LanguageModel, APassBeginsWithoutAState) {
    TrainerFixture fixture(frozen_text_run("fp32"), default_device());
    const float first = fixture.step(0).row.loss, second = fixture.step(1).row.loss;
    EXPECT_EQ(fixture.step(0).row.loss, first) << "the first window of a pass";
    EXPECT_EQ(fixture.step(1).row.loss, second);
    EXPECT_NE(fixture.step(1).row.loss, second) << "the state has gone on";
}

TEST(LanguageModel, AnEvaluationBetweenStepsLeavesTheirStateAlone) {
    TrainerFixture plain(frozen_text_run("fp32"), default_device()),
        evaluated(frozen_text_run("fp32"), default_device());
    Collator collator(evaluated.data, evaluated.trainer.task().schema(false), evaluated.options);
    Batch batch;
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(evaluated.step(i).row.loss, plain.step(i).row.loss);
        double first = 0;
        for (int pass = 0; pass < 2; ++pass) {
            evaluated.trainer.begin_evaluation();
            for (int window = 0; window < 3; ++window) {
                collator.make(batch, 0, window);
                evaluated.trainer.evaluate(batch, *evaluated.feed);
            }
            const MetricSums sums = evaluated.trainer.take_evaluation();
            EXPECT_EQ(sums.weight, 3 * 20);
            if (pass == 0) first = sums.loss;
            EXPECT_EQ(sums.loss, first) << "each pass begins cold";
        }
    }
}

TEST(LanguageModel, ASkippedStepCarriesItsState) {
    RunConfig config = small_text_run("amp-fp16");
    config.scaler.init_scale = 0x1p60;
    TrainerFixture skipping(config, default_device());
    config = frozen_text_run("amp-fp16");
    config.scaler.init_scale = 1;
    TrainerFixture applied(config, default_device());
    for (int i = 0; i < 3; ++i) {
        const CompletedStep step = skipping.step(i);
        EXPECT_EQ(step.row.found_inf, 1);
        EXPECT_EQ(step.row.updates, 0);
        EXPECT_EQ(step.state_resets, 0);
        EXPECT_EQ(step.row.loss, applied.step(i).row.loss)
            << "as where the same weights were kept by a rate of 0";
    }
}

/// A plain RNN whose embedding of one token is infinite: streams with that token overflow.
struct Overflowing {
    Overflowing(const std::string& precision, const Device& device)
        : fixture(config(precision), device) {
        Batch batch;
        fixture.collator.make(batch, 0, 1);
        token = batch.fields[0].values<std::int64_t>()[2];  // first stream, second window
        const Tensor& table = fixture.trainer.model().parameters()[0].tensor;
        EXPECT_EQ(fixture.trainer.model().parameters()[0].name, "encoder.weight");
        set_element(table, token * table.size(1), std::numeric_limits<double>::infinity());
    }
    static RunConfig config(const std::string& precision) {
        RunConfig out = frozen_text_run(precision);
        out.model.options["cell"] = std::string("rnn-relu");
        return out;
    }
    /// Whether the token is in stream `row` of window `index`.
    bool overflows(std::int64_t index, std::int64_t row) {
        Batch batch;
        fixture.collator.make(batch, 0, index);
        const auto tokens =
            batch.fields[0].values<std::int64_t>().subspan(static_cast<std::size_t>(5 * row), 5);
        return std::ranges::count(tokens, token) > 0;
    }

    TrainerFixture fixture;
    std::int64_t token = 0;
};

TEST(LanguageModel, AStreamWhoseStateOverflowsBeginsAgainFromZero) {
    Overflowing run("amp-fp16", default_device());  // skips steps that overflow
    bool some_kept = false;
    TensorList state = cold(run.fixture.trainer.model(), 4);
    for (int i = 0; i < 4; ++i) {
        SCOPED_TRACE(i);
        const double expected = text_loss_by_hand(run.fixture, i, state, /*low=*/true);
        std::int64_t resets = 0;
        std::vector<double> kept = state[0].values();  // (1, 4, 8)
        for (std::int64_t row = 0; row < 4; ++row) {
            const auto begin = kept.begin() + 8 * row;
            const bool finite =
                std::all_of(begin, begin + 8, [](double v) { return std::isfinite(v); });
            EXPECT_EQ(finite, !run.overflows(i, row)) << "stream " << row;
            if (!finite) std::fill_n(begin, 8, 0.0);
            resets += finite ? 0 : 1;
        }
        some_kept = some_kept || (resets > 0 && resets < 4);
        state[0] = Tensor::of(kept, {1, 4, 8});
        const CompletedStep step = run.fixture.step(i);
        EXPECT_EQ(step.state_resets, resets);
        if (std::isnan(expected))
            EXPECT_TRUE(std::isnan(step.row.loss));
        else
            EXPECT_EQ(static_cast<double>(step.row.loss), expected);
    }
    EXPECT_TRUE(some_kept) << "the other streams go on";
}

TEST(LanguageModel, ResetsAreToldOneStepLate) {
    HALFTONE_NEEDS_CUDA();
    Overflowing host("amp-fp16", Device{}), device("amp-fp16", cuda);
    ASSERT_EQ(host.token, device.token);
    std::vector<std::int64_t> expected, found;
    for (int i = 0; i < 7; ++i) {
        expected.push_back(host.fixture.step(i).state_resets);
        device.fixture.submit(i);
        const auto step = device.fixture.trainer.take(/*all=*/false);
        ASSERT_EQ(step.has_value(), i > 0);
        if (!step) continue;
        EXPECT_EQ(step->row.step, i) << "the step before, counted from 1";
        found.push_back(step->state_resets);
    }
    found.push_back(device.fixture.trainer.take(true).value().state_resets);
    EXPECT_EQ(found, expected);
    EXPECT_GT(device.fixture.trainer.replayed_steps(), 0);
}

// With dropout, whose masks change at each step; with a shorter last window, which is not replayed;
// and with a second pass, which begins with an empty state.
TEST(LanguageModel, IsReplayedWithTheNumbersOfEagerSteps) {
    HALFTONE_NEEDS_CUDA();
    for (const char* precision : {"fp32", "amp-fp16"}) {
        SCOPED_TRACE(precision);
        RunConfig config = small_text_run(precision);
        config.dataset.train_limit = 4 * 34;  // six windows of 5 and one of 3
        config.model.options["dropout"] = 0.25;
        TrainerFixture eager(config, cuda), recorded(config, cuda);
        eager.trainer.set_recording(false);
        const std::int64_t windows = eager.collator.batches_per_epoch();
        ASSERT_EQ(windows, 7);
        std::set<float> losses;
        for (std::int64_t i = 0; i < 2 * windows; ++i) {
            SCOPED_TRACE(i);
            const StepRecord expected = eager.step(i % windows).row;
            const StepRecord row = recorded.step(i % windows).row;
            EXPECT_EQ(row.loss, expected.loss);
            EXPECT_EQ(row.metric_1, expected.metric_1);
            EXPECT_EQ(row.found_inf, expected.found_inf);
            EXPECT_EQ(row.grad_norm, expected.grad_norm);
            EXPECT_EQ(row.samples, expected.samples);
            losses.insert(row.loss);
        }
        EXPECT_EQ(losses.size(), static_cast<std::size_t>(2 * windows));
        EXPECT_EQ(recorded.trainer.replayed_steps(), 2 * windows - 3 - 2) << "all full windows";
        EXPECT_EQ(saved_state(eager.trainer.model()).at("decoder.weight").values(),
                  saved_state(recorded.trainer.model()).at("decoder.weight").values());
        EXPECT_THAT(recorded.trainer.take_warnings(), IsEmpty());
    }
}

// With dropout in attention too, whose masks depend on the step's number on the device.
TEST(LanguageModel, OfATransformerIsReplayedWithTheNumbersOfEagerSteps) {
    HALFTONE_NEEDS_CUDA();
    for (const char* precision : {"fp32", "amp-fp16"}) {
        SCOPED_TRACE(precision);
        RunConfig config = small_transformer_run(precision);
        config.dataset.train_limit = 4 * 34;  // six windows of 5 and one of 3
        config.model.options["dropout"] = 0.25;
        TrainerFixture eager(config, cuda), recorded(config, cuda);
        eager.trainer.set_recording(false);
        std::set<float> losses;
        for (std::int64_t i = 0; i < 14; ++i) {
            SCOPED_TRACE(i);
            const StepRecord expected = eager.step(i % 7).row;
            const StepRecord row = recorded.step(i % 7).row;
            EXPECT_EQ(row.loss, expected.loss);
            EXPECT_EQ(row.grad_norm, expected.grad_norm);
            losses.insert(row.loss);
        }
        EXPECT_EQ(losses.size(), 14U);
        EXPECT_EQ(recorded.trainer.replayed_steps(), 14 - 3 - 2) << "all full windows";
        EXPECT_THAT(recorded.trainer.take_warnings(), IsEmpty());
    }
}

// decisions.md#randomness (D7): the step's number and the place decide the mask, not the precision.
TEST(LanguageModel, DropoutOfATransformerIsTheSameInEveryPrecisionAndOtherInEachStep) {
    std::vector<std::vector<float>> losses;
    for (const char* precision : {"fp32", "amp-fp16", "amp-bf16"}) {
        RunConfig config = small_transformer_run(precision);
        config.model.options["dropout"] = 0.5;
        config.optimizer.options["lr"] = 0.0;
        config.optimizer.options["weight_decay"] = 0.0;
        TrainerFixture fixture(config, default_device());
        auto& of = losses.emplace_back();
        for (int i = 0; i < 6; ++i) of.push_back(fixture.step(0).row.loss);
        EXPECT_EQ(std::set(of.begin(), of.end()).size(), 6U) << "one window, six masks";
    }
    // Masks must change the loss by much more than rounding does; otherwise the comparison would
    // prove nothing.
    const auto [least, most] = std::minmax_element(losses[0].begin(), losses[0].end());
    const float moved = *most - *least;
    for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_NEAR(losses[1][i], losses[0][i], moved / 50);
        EXPECT_NEAR(losses[2][i], losses[0][i], moved / 10);
    }
}

}  // namespace
}  // namespace engine
