#include "kernels/step_figures.h"
#include "kernels/device.h"
#include "kernels/device_array.h"
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

/// Sums of squares by the definition of AddSquares, with a bound for sums of doubles in another
/// order.
struct Squares {
    double sums[3] = {};
    double slack[3] = {};
};

Squares squares_of(const Buffer& prediction, const Buffer& target) {
    long double sums[3] = {}, sizes[3] = {};
    for (std::int64_t i = 0; i < target.size(); ++i) {
        const long double wanted = target.get(i);
        const long double error = prediction.get(i) - wanted;
        const long double terms[] = {error * error, wanted, wanted * wanted};
        for (std::size_t k = 0; k < 3; ++k) {
            sums[k] += terms[k];
            sizes[k] += std::fabs(terms[k]);
        }
    }
    Squares result;
    // Each term is rounded up to three times, each addition once.
    const auto roundings = static_cast<long double>(target.size() + 3);
    for (std::size_t k = 0; k < 3; ++k) {
        result.sums[k] = static_cast<double>(sums[k]);
        result.slack[k] = static_cast<double>(roundings * 0x1p-52L * sizes[k]);
    }
    return result;
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

const GradientStatistics one_statistics{0, 4, 16, 5, 6, 7, 8, 9, 3};
const GradientStatistics other_statistics{1, 3, 0.5, 10, 20, 30, 40, 50, 2};

void expect_equal_statistics(const GradientStatistics& actual, const GradientStatistics& expected) {
    EXPECT_EQ(actual.found_inf, expected.found_inf);
    if (std::isnan(expected.abs_max))
        EXPECT_TRUE(std::isnan(actual.abs_max));
    else
        EXPECT_EQ(actual.abs_max, expected.abs_max);
    EXPECT_EQ(actual.sum_squares, expected.sum_squares);
    EXPECT_EQ(actual.nonzero, expected.nonzero);
    EXPECT_EQ(actual.to_zero, expected.to_zero);
    EXPECT_EQ(actual.subnormal, expected.subnormal);
    EXPECT_EQ(actual.overflow, expected.overflow);
    EXPECT_EQ(actual.total, expected.total);
    EXPECT_EQ(actual.f16_abs_max, expected.f16_abs_max);
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
    cpu::gather_step(&figures, sources, {});
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
    cpu::gather_step(&figures, sources, {});
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

TEST(CudaAddLoss, AddsAsTheCpuDoes) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating) {
        for (const double weight : {0.0, 1.0, 0.3, 1000.0}) {
            MetricSums expected{0.25, 7, {1, 2}};
            const DeviceValue<MetricSums> sums(expected);
            const Buffer loss = random_buffer(dtype, 1, 2);
            cpu::add_loss(&expected, loss, weight, {});
            cuda::add_loss(sums.get(), DeviceBuffer(loss), weight, {});
            const MetricSums actual = sums.host();
            // The device may use fused multiply-add.
            EXPECT_NEAR(actual.loss, expected.loss, 0x1p-52 * (1 + std::fabs(expected.loss)) * 2);
            EXPECT_EQ(actual.weight, expected.weight);
            EXPECT_EQ(actual.values[1], 2);
        }
    }
}

TEST(CudaAddWeighted, AddsAsTheCpuDoes) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating) {
        double expected = 0.25;
        const DeviceValue<double> sum(expected);
        const Buffer value = random_buffer(dtype, 1, 2);
        cpu::add_weighted(&expected, value, 0.3, {});
        cuda::add_weighted(sum.get(), DeviceBuffer(value), 0.3, {});
        // The device may use fused multiply-add.
        EXPECT_NEAR(sum.host(), expected, 0x1p-52 * (1 + std::fabs(expected)) * 2);
    }
}

/// Compares both twins, starting from the same sum.
void expect_same_count(const Buffer& logits, const Buffer& labels, std::int64_t rows,
                       std::int64_t cols) {
    double expected = 5;
    const DeviceValue<double> correct(expected);
    const DeviceBuffer device_logits(logits), device_labels(labels);
    cpu::count_correct(&expected, logits, labels, rows, cols, {});
    cuda::count_correct(correct.get(), device_logits, device_labels, rows, cols, {});
    EXPECT_EQ(correct.host(), expected) << rows << " x " << cols;
}

TEST(CudaCountCorrect, CountsAsTheCpuDoes) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating) {
        for (const std::int64_t rows : {0, 1, 33, 200}) {
            for (const std::int64_t cols : {1, 2, 10, 32, 33, 100}) {
                // Few distinct values, so that many rows contain their largest twice.
                Buffer logits = random_buffer(dtype, rows * cols, 1, 0, 2);
                for (std::int64_t i = 0; i < logits.size(); ++i)
                    logits.set(i, std::nearbyint(logits.get(i)));
                for (std::int64_t i = 0; i < logits.size(); i += 97)
                    logits.set(i, i % 2 == 0 ? std::nan("") : -HUGE_VAL);
                Buffer labels(DType::i64, rows);
                for (std::int64_t r = 0; r < rows; ++r)
                    labels.set(r, static_cast<double>(r % std::min<std::int64_t>(cols, 3)));
                expect_same_count(logits, labels, rows, cols);
            }
        }
    }
}

TEST(CudaCountCorrect, TakesARowOfInfinitiesAndOneOfNaN) {
    HALFTONE_NEEDS_CUDA();
    const double no = std::nan(""), low = -HUGE_VAL;
    const Buffer logits(DType::f32, {low, low, no, no, 1, no});
    expect_same_count(logits, Buffer(DType::i64, {0, 0, 1}), 3, 2);
    expect_same_count(logits, Buffer(DType::i64, {1, 1, 0}), 3, 2);
}

TEST(CudaCountCorrect, CountsMoreRowsThanItsWarps) {
    HALFTONE_NEEDS_CUDA();
    const std::int64_t rows = 1000, cols = 3;
    const Buffer logits = random_buffer(DType::f16, rows * cols, 3);
    expect_same_count(logits, Buffer(DType::i64, rows), rows, cols);
}

TEST(CudaAddSquares, SumsAsTheCpuDoes) {
    HALFTONE_NEEDS_CUDA();
    for (const DType prediction_dtype : floating) {
        for (const DType target_dtype : floating) {
            for (const std::int64_t size : {0, 1, 31, 256, 257, 3000}) {
                const Buffer prediction = random_buffer(prediction_dtype, size, 1);
                const Buffer target = random_buffer(target_dtype, size, 2, 1);
                const Squares expected = squares_of(prediction, target);
                const DeviceBuffer sums(Buffer(DType::f64, {0, 0, 0}));
                cuda::add_squares(sums.as<double>(), DeviceBuffer(prediction), DeviceBuffer(target),
                                  {});
                const Buffer actual = sums.host();
                for (std::size_t k = 0; k < 3; ++k)
                    EXPECT_NEAR(actual.get(static_cast<std::int64_t>(k)), expected.sums[k],
                                expected.slack[k])
                        << size;
            }
        }
    }
}

TEST(CudaAddSquares, AddsToWhatIsThereAndPassesNaNOn) {
    HALFTONE_NEEDS_CUDA();
    const DeviceBuffer sums(Buffer(DType::f64, {1, 2, 3}));
    const DeviceBuffer prediction(Buffer(DType::f16, {1, 2})), target(Buffer(DType::f32, {3, 2}));
    cuda::add_squares(sums.as<double>(), prediction, target, {});
    EXPECT_EQ(sums.host().values(), (std::vector<double>{5, 7, 16}));
    const DeviceBuffer broken(Buffer(DType::f16, {1, std::nan("")}));
    cuda::add_squares(sums.as<double>(), broken, target, {});
    const Buffer actual = sums.host();
    EXPECT_TRUE(std::isnan(actual.get(0)));
    EXPECT_EQ(actual.get(1), 12);
}

TEST(CudaMergeGradientStatistics, CombinesAsTheCpuDoes) {
    HALFTONE_NEEDS_CUDA();
    GradientStatistics broken = other_statistics;
    broken.abs_max = nan;
    for (const GradientStatistics& to :
         {one_statistics, other_statistics, broken, GradientStatistics{}}) {
        for (const GradientStatistics& from :
             {one_statistics, other_statistics, broken, GradientStatistics{}}) {
            GradientStatistics expected = to;
            cpu::merge_gradient_statistics(&expected, &from, {});
            const DeviceValue<GradientStatistics> gradient_statistics(to), other(from);
            cuda::merge_gradient_statistics(gradient_statistics.get(), other.get(), {});
            expect_equal_statistics(gradient_statistics.host(), expected);
        }
    }
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
        cpu::gather_step(&figures, sources, {});
        return figures.scaled_f16_max;
    };
    EXPECT_EQ(gathered(5, 3), 5);
    EXPECT_EQ(gathered(2, 3), 3);
    EXPECT_TRUE(std::isnan(gathered(5, nan)));
    EXPECT_TRUE(std::isnan(gathered(nan, 3)));
}

TEST(CudaGatherStep, CopiesWhatIsGivenAndLeavesTheRest) {
    HALFTONE_NEEDS_CUDA();
    const DeviceValue<MetricSums> sums({1.5, 2, {3}});
    const DeviceValue<GradientStatistics> gradient_statistics(one_statistics);
    const DeviceValue<UpdateCounts> counts({10, 11});
    const DeviceValue<std::int64_t> updates(std::int64_t{1} << 40), second(14), resets(15);
    const DeviceValue<float> loss_scale(1024), next(512), lr(0.1f), f16_max(100);
    const DeviceValue<std::int32_t> tracker(12);
    StepFigures before{};
    before.next_loss_scale = -1;
    const DeviceValue<StepFigures> figures(before);
    StepSources sources;
    sources.sums = sums.get();
    sources.gradient_statistics = gradient_statistics.get();
    sources.counts = counts.get();
    sources.updates[0] = updates.get();
    sources.updates[1] = second.get();
    sources.state_resets = resets.get();
    sources.loss_scale = loss_scale.get();
    sources.lr = lr.get();
    sources.scaled_f16_max = f16_max.get();
    sources.growth_tracker = tracker.get();
    cuda::gather_step(figures.get(), sources, {});
    const StepFigures f = figures.host();
    EXPECT_EQ(f.sums.loss, 1.5);
    EXPECT_EQ(f.sums.values[0], 3);
    EXPECT_EQ(f.gradient_statistics.abs_max, 4);
    EXPECT_EQ(f.gradient_statistics.total, 9);
    EXPECT_EQ(f.counts.lost, 11);
    EXPECT_EQ(f.updates, std::int64_t{1} << 40);
    EXPECT_EQ(f.further_updates[0], 14);
    EXPECT_EQ(f.further_updates[1], 0);
    EXPECT_EQ(f.state_resets, 15);
    EXPECT_EQ(f.loss_scale, 1024);
    EXPECT_EQ(f.next_loss_scale, -1);
    EXPECT_EQ(f.lr, 0.1f);
    EXPECT_EQ(f.scaled_f16_max, 100);
    EXPECT_EQ(f.growth_tracker, 12);
}

TEST(CudaSetLearningRate, FollowsTheCpusSchedule) {
    HALFTONE_NEEDS_CUDA();
    for (const LearningRateSchedule& schedule :
         {LearningRateSchedule{0.2, ScheduleKind::cosine, 1000, 10},
          LearningRateSchedule{0.1, ScheduleKind::constant, 1000},
          LearningRateSchedule{0.1, ScheduleKind::cosine, 0},
          LearningRateSchedule{0.1, ScheduleKind::step, 1000, 5, 100, 0.7},
          LearningRateSchedule{0.1, ScheduleKind::one_cycle, 1000, 5},
          LearningRateSchedule{0.1, ScheduleKind::polynomial, 1000, 5, 1, 1, 2.5},
          LearningRateSchedule{0.1, ScheduleKind::plateau, 1000}}) {
        for (const std::int64_t updates : {0, 1, 7, 333, 500, 999, 1000, 5000}) {
            float expected = -1;
            const double multiplier = 0.3;
            cpu::set_learning_rate(&expected, &updates, &multiplier, schedule, {});
            const DeviceValue<float> lr(-1);
            const DeviceValue<double> device_multiplier(multiplier);
            const DeviceValue<std::int64_t> device_updates(updates);
            cuda::set_learning_rate(lr.get(), device_updates.get(), device_multiplier.get(),
                                    schedule, {});
            // Two cosines in double of two units each, around 1 + cos, or two powers of two units
            // each. Then one rounding to f32.
            const double slack = schedule.base * 4 * 0x1p-52 + 2 * half_ulp(DType::f32, expected);
            EXPECT_NEAR(lr.host(), expected, slack) << updates;
        }
    }
}

}  // namespace
}  // namespace kernels::test
