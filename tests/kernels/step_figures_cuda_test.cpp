#include "kernels/step_figures.h"

#include "kernels/device.h"
#include "kernels/device_array.h"
#include "kernels/step_ends.h"
#include "kernels/step_figures_reference.h"
#include "kernels/support.h"

namespace kernels::test {
namespace {

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
    cuda::end_step(figures.get(), {.before = sources}, {});
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
