#include "kernels/step_figures.h"

#include "kernels/step_ends.h"
#include "kernels/step_figures_reference.h"
#include "kernels/support.h"

namespace kernels::test {
namespace {

TEST(AddLoss, WeighsTheMeanLossOfABatch) {
    for (const DType dtype : floating) {
        MetricSums sums{1.0, 20, {5}};
        cpu::add_loss(&sums, Buffer(dtype, {0.5}), 3, {});
        cpu::add_loss(&sums, Buffer(dtype, {-2}), 1.5, {});
        EXPECT_EQ(sums.loss, -0.5);
        EXPECT_EQ(sums.weight, 24.5);
        EXPECT_EQ(sums.values[0], 5);
    }
}

TEST(AddLoss, LeavesTheSumsForABatchOfNoWeight) {
    MetricSums sums{1, 2, {}};
    cpu::add_loss(&sums, Buffer(DType::f32, {std::nan("")}), 0, {});
    EXPECT_EQ(sums.loss, 1);
    EXPECT_EQ(sums.weight, 2);
}

TEST(AddWeighted, AddsAValueTimesItsWeight) {
    for (const DType dtype : floating) {
        double sum = 1;
        cpu::add_weighted(&sum, Buffer(dtype, {0.5}), 3, {});
        cpu::add_weighted(&sum, Buffer(dtype, {-2}), 1.5, {});
        EXPECT_EQ(sum, -0.5);
    }
}

TEST(CountCorrect, AddsTheRowsWhoseLargestLogitIsTheirLabels) {
    for (const DType dtype : floating) {
        const Buffer logits(dtype, {1, 2, 3, 5, 4, 0, -1, -2, -3});
        double correct = 10;
        cpu::count_correct(&correct, logits, Buffer(DType::i64, {2, 0, 1}), 3, 3, {});
        EXPECT_EQ(correct, 12);
    }
}

TEST(CountCorrect, TakesTheFirstLargestAndNoPredictionFromNaN) {
    const double no = std::nan("");
    const Buffer logits(DType::f32, {1, 1, 0, 2, no, no, no, 9, 9});
    const auto count = [&](const Buffer& labels) {
        double correct = 0;
        cpu::count_correct(&correct, logits, labels, 3, 3, {});
        return correct;
    };
    EXPECT_EQ(count(Buffer(DType::i64, {0, 1, 0})), 1) << "the first row";
    EXPECT_EQ(count(Buffer(DType::i64, {0, 0, 2})), 1);
    EXPECT_EQ(count(Buffer(DType::i64, {1, 2, 1})), 0);
}

TEST(CountCorrect, LeavesTheSumForABatchOfNoRows) {
    double correct = 2;
    cpu::count_correct(&correct, Buffer(DType::f32, 0), Buffer(DType::i64, 0), 0, 10, {});
    EXPECT_EQ(correct, 2);
}

TEST(CountCorrect, CountsTheSameWithEveryNumberOfThreads) {
    const std::int64_t rows = 20000, cols = 11;
    const Buffer logits = random_buffer(DType::f32, rows * cols, 1);
    Buffer labels(DType::i64, rows);
    double expected = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
        std::int64_t best = 0;
        for (std::int64_t c = 1; c < cols; ++c)
            if (logits.get(r * cols + c) > logits.get(r * cols + best)) best = c;
        labels.set(r, static_cast<double>(r % 3 == 0 ? best : (best + 1) % cols));
        expected += r % 3 == 0;
    }
    with_threads([&](int) {
        double correct = 0;
        cpu::count_correct(&correct, logits, labels, rows, cols, {});
        EXPECT_EQ(correct, expected);
    });
}

TEST(AddSquares, SumsErrorsAndTargets) {
    for (const DType prediction_dtype : floating) {
        for (const DType target_dtype : floating) {
            double sums[] = {1, 2, 3};
            cpu::add_squares(sums, Buffer(prediction_dtype, {1, 2, -3}),
                             Buffer(target_dtype, {0.5, 4, -3}), {});
            EXPECT_EQ(sums[0], 1 + 0.25 + 4);
            EXPECT_EQ(sums[1], 2 + 1.5);
            EXPECT_EQ(sums[2], 3 + 0.25 + 16 + 9);
        }
    }
}

TEST(AddSquares, IsAsExactAsDoublesAllow) {
    for (const DType dtype : floating) {
        for (const std::int64_t size : sizes) {
            const Buffer prediction = random_buffer(dtype, size, 1);
            const Buffer target = random_buffer(DType::f32, size, 2, 3);
            const Squares expected = squares_of(prediction, target);
            double sums[3] = {};
            cpu::add_squares(sums, prediction, target, {});
            for (std::size_t k = 0; k < 3; ++k)
                EXPECT_NEAR(sums[k], expected.sums[k], expected.slack[k]) << size;
        }
    }
}

TEST(AddSquares, PassesNaNAndInfinityOn) {
    double sums[3] = {};
    cpu::add_squares(sums, Buffer(DType::f32, {1, HUGE_VAL}), Buffer(DType::f32, {1, 2}), {});
    EXPECT_EQ(sums[0], HUGE_VAL);
    EXPECT_EQ(sums[1], 3);
    cpu::add_squares(sums, Buffer(DType::f32, {1}), Buffer(DType::f32, {std::nan("")}), {});
    for (const double sum : sums) EXPECT_TRUE(std::isnan(sum));
}

TEST(MergeGradientStatistics, AddsCountsAndSquaresAndCombinesTheRest) {
    GradientStatistics gradient_statistics = one_statistics;
    cpu::merge_gradient_statistics(&gradient_statistics, &other_statistics, {});
    expect_equal_statistics(gradient_statistics, {1, 4, 16.5, 15, 26, 37, 48, 59, 3});
    gradient_statistics = other_statistics;
    cpu::merge_gradient_statistics(&gradient_statistics, &one_statistics, {});
    expect_equal_statistics(gradient_statistics, {1, 4, 16.5, 15, 26, 37, 48, 59, 3});
}

TEST(MergeGradientStatistics, LeavesTheOtherSideForNoGradients) {
    const GradientStatistics nothing{};
    GradientStatistics gradient_statistics = one_statistics;
    cpu::merge_gradient_statistics(&gradient_statistics, &nothing, {});
    expect_equal_statistics(gradient_statistics, one_statistics);
    gradient_statistics = nothing;
    cpu::merge_gradient_statistics(&gradient_statistics, &other_statistics, {});
    expect_equal_statistics(gradient_statistics, other_statistics);
}

TEST(MergeGradientStatistics, KeepsAMaximumThatIsNaNOnEitherSide) {
    GradientStatistics broken = other_statistics;
    broken.abs_max = nan;
    GradientStatistics gradient_statistics = one_statistics;
    cpu::merge_gradient_statistics(&gradient_statistics, &broken, {});
    EXPECT_TRUE(std::isnan(gradient_statistics.abs_max));
    cpu::merge_gradient_statistics(&gradient_statistics, &one_statistics, {});
    EXPECT_TRUE(std::isnan(gradient_statistics.abs_max));
    gradient_statistics = one_statistics;
    broken.abs_max = infinity;
    cpu::merge_gradient_statistics(&gradient_statistics, &broken, {});
    EXPECT_EQ(gradient_statistics.abs_max, infinity);
}

TEST(GatherStep, CopiesWhatIsGivenAndLeavesTheRest) {
    StepFigures figures{};
    figures.lr = 7;
    figures.counts = {8, 9};
    figures.further_updates[1] = 13;
    MetricSums sums{1.5, 2, {}};
    sums.values[MetricSums::value_count - 1] = 3;
    const std::int64_t updates = 21, third = 23, resets = 24;
    const float scale = 1024;
    const std::int32_t tracker = 11;
    StepSources sources;
    sources.sums = &sums;
    sources.gradient_statistics = &one_statistics;
    sources.updates[0] = &updates;
    sources.updates[3] = &third;
    sources.state_resets = &resets;
    sources.loss_scale = &scale;
    sources.growth_tracker = &tracker;
    cpu::end_step(&figures, {.before = sources}, {});
    EXPECT_EQ(figures.sums.loss, 1.5);
    EXPECT_EQ(figures.sums.values[MetricSums::value_count - 1], 3);
    EXPECT_EQ(figures.gradient_statistics.total, 9);
    EXPECT_EQ(figures.updates, 21);
    EXPECT_EQ(figures.further_updates[0], 0);
    EXPECT_EQ(figures.further_updates[1], 13);
    EXPECT_EQ(figures.further_updates[2], 23);
    EXPECT_EQ(figures.state_resets, 24);
    EXPECT_EQ(figures.loss_scale, 1024);
    EXPECT_EQ(figures.growth_tracker, 11);
    EXPECT_EQ(figures.lr, 7);
    EXPECT_EQ(figures.counts.lost, 9);
}

TEST(GatherStep, MovesTheDeferredError) {
    StepFigures figures{};
    DeferredError note = 77;
    StepSources sources;
    sources.deferred_error = &note;
    cpu::end_step(&figures, {.before = sources}, {});
    EXPECT_EQ(figures.deferred_error, 77u);
    EXPECT_EQ(note, 0u);
}

TEST(SetLearningRate, FollowsTheCosineDownToZeroAndHoldsWithoutOne) {
    const LearningRateSchedule cosine{0.2, ScheduleKind::cosine, 100};
    const auto rate = [&](const LearningRateSchedule& schedule, std::int64_t updates) {
        float lr = -1;
        cpu::set_learning_rate(&lr, &updates, nullptr, schedule, {});
        return lr;
    };
    EXPECT_EQ(rate(cosine, 0), 0.2f);
    EXPECT_NEAR(rate(cosine, 50), 0.1f, 1e-8);
    EXPECT_EQ(rate(cosine, 100), 0.0f);
    EXPECT_EQ(rate(cosine, 250), 0.0f);
    EXPECT_EQ(rate({0.2, ScheduleKind::constant, 100}, 50), 0.2f);
    EXPECT_EQ(rate({0.2, ScheduleKind::cosine, 0}, 50), 0.2f);
}

TEST(SetLearningRate, MultipliesTheRateOfTheSchedule) {
    const std::int64_t updates = 50;
    const double multiplier = 0.5;
    float lr = -1;
    cpu::set_learning_rate(&lr, &updates, &multiplier, {0.2, ScheduleKind::plateau}, {});
    EXPECT_EQ(lr, 0.1f);
}

// Some f16 gradients are seen in the backward pass, the others by the gradient check.
TEST(GatherStep, TakesTheLargerOfTheTwoFiguresOfF16Gradients) {
    const auto gathered = [](float seen, float checked) {
        GradientStatistics statistics = one_statistics;
        statistics.f16_abs_max = checked;
        StepSources sources;
        sources.gradient_statistics = &statistics;
        sources.scaled_f16_max = &seen;
        StepFigures figures{};
        cpu::end_step(&figures, {.before = sources}, {});
        return figures.scaled_f16_max;
    };
    EXPECT_EQ(gathered(5, 3), 5);
    EXPECT_EQ(gathered(2, 3), 3);
    EXPECT_TRUE(std::isnan(gathered(5, nan)));
    EXPECT_TRUE(std::isnan(gathered(nan, 3)));
}

}  // namespace
}  // namespace kernels::test
