#include "kernels/step_figures.h"
#include "kernels/device.h"
#include "kernels/device_array.h"
#include "kernels/support.h"

namespace kernels::test {
namespace {

TEST(TallyBatch, AddsTheBatchsLossAndItsRightAnswers) {
    for (DType dtype : floating) {
        const Buffer logits(dtype, {1, 2, 3, 5, 4, 0, -1, -2, -3});
        const Buffer labels(DType::i64, {2, 0, 1});
        const Buffer loss(dtype, {0.5});
        BatchTally tally{1.0, 10, 20};
        cpu::tally_batch(&tally, loss, logits, labels, 3, 3, {});
        EXPECT_EQ(tally.loss_sum, 2.5);
        EXPECT_EQ(tally.correct, 12);
        EXPECT_EQ(tally.samples, 23);
    }
}

TEST(TallyBatch, TakesTheFirstLargestAndNaNForLargest) {
    const double no = std::nan("");
    const Buffer logits(DType::f32, {1, 1, 0, 2, no, no, no, 9, 9});
    const Buffer loss(DType::f32, {0});
    const auto correct = [&](const Buffer& labels) {
        BatchTally tally{};
        cpu::tally_batch(&tally, loss, logits, labels, 3, 3, {});
        return tally.correct;
    };
    EXPECT_EQ(correct(Buffer(DType::i64, {0, 1, 0})), 3);
    EXPECT_EQ(correct(Buffer(DType::i64, {1, 2, 1})), 0);
}

TEST(TallyBatch, LeavesTheTallyForABatchOfNoRows) {
    const Buffer none(DType::f32, 0), labels(DType::i64, 0);
    const Buffer loss(DType::f32, {std::nan("")});
    BatchTally tally{1, 2, 3};
    cpu::tally_batch(&tally, loss, none, labels, 0, 10, {});
    EXPECT_EQ(tally.loss_sum, 1);
    EXPECT_EQ(tally.samples, 3);
}

TEST(TallyBatch, CountsTheSameWithEveryNumberOfThreads) {
    const std::int64_t rows = 20000, cols = 11;
    const Buffer logits = random_buffer(DType::f32, rows * cols, 1);
    Buffer labels(DType::i64, rows);
    std::int64_t expected = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
        std::int64_t best = 0;
        for (std::int64_t c = 1; c < cols; ++c)
            if (logits.get(r * cols + c) > logits.get(r * cols + best)) best = c;
        labels.set(r, static_cast<double>(r % 3 == 0 ? best : (best + 1) % cols));
        expected += r % 3 == 0;
    }
    with_threads([&](int) {
        BatchTally tally{};
        cpu::tally_batch(&tally, Buffer(DType::f32, {1}), logits, labels, rows, cols, {});
        EXPECT_EQ(tally.correct, expected);
    });
}

TEST(GatherStep, CopiesWhatIsGivenAndLeavesTheRest) {
    StepFigures figures{};
    figures.lr = 7;
    figures.counts = {8, 9};
    const BatchTally tally{1.5, 2, 3};
    const Judgement judgement{0, 4, 16, 5, 6, 7, 8, 9};
    const float scale = 1024;
    const std::int32_t tracker = 11;
    StepSources sources;
    sources.tally = &tally;
    sources.judgement = &judgement;
    sources.loss_scale = &scale;
    sources.growth_tracker = &tracker;
    cpu::gather_step(&figures, sources, {});
    EXPECT_EQ(figures.tally.loss_sum, 1.5);
    EXPECT_EQ(figures.judgement.total, 9);
    EXPECT_EQ(figures.loss_scale, 1024);
    EXPECT_EQ(figures.growth_tracker, 11);
    EXPECT_EQ(figures.lr, 7);
    EXPECT_EQ(figures.counts.lost, 9);
}

TEST(SetLearningRate, FollowsTheCosineDownToZeroAndHoldsWithoutOne) {
    const LearningRateSchedule cosine{0.2, true, 100};
    const auto rate = [&](const LearningRateSchedule& schedule, std::int64_t updates) {
        float lr = -1;
        cpu::set_learning_rate(&lr, &updates, schedule, {});
        return lr;
    };
    EXPECT_EQ(rate(cosine, 0), 0.2f);
    EXPECT_NEAR(rate(cosine, 50), 0.1f, 1e-8);
    EXPECT_EQ(rate(cosine, 100), 0.0f);
    EXPECT_EQ(rate(cosine, 250), 0.0f);
    EXPECT_EQ(rate({0.2, false, 100}, 50), 0.2f);
    EXPECT_EQ(rate({0.2, true, 0}, 50), 0.2f);
}

/// Both twins from one tally.
void expect_same_tally(const Buffer& loss, const Buffer& logits, const Buffer& labels,
                       std::int64_t rows, std::int64_t cols) {
    BatchTally expected{0.25, 5, 7};
    const DeviceValue<BatchTally> tally(expected);
    const DeviceBuffer device_loss(loss), device_logits(logits), device_labels(labels);
    cpu::tally_batch(&expected, loss, logits, labels, rows, cols, {});
    cuda::tally_batch(tally.get(), device_loss, device_logits, device_labels, rows, cols, {});
    const BatchTally actual = tally.host();
    EXPECT_EQ(actual.loss_sum, expected.loss_sum);
    EXPECT_EQ(actual.correct, expected.correct) << rows << " x " << cols;
    EXPECT_EQ(actual.samples, expected.samples);
}

TEST(CudaTallyBatch, CountsAsTheCpuDoes) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating) {
        for (const std::int64_t rows : {0, 1, 33, 200}) {
            for (const std::int64_t cols : {1, 2, 10, 32, 33, 100}) {
                // Few different values, so that many rows hold their largest twice.
                Buffer logits = random_buffer(dtype, rows * cols, 1, 0, 2);
                for (std::int64_t i = 0; i < logits.size(); ++i)
                    logits.set(i, std::nearbyint(logits.get(i)));
                for (std::int64_t i = 0; i < logits.size(); i += 97)
                    logits.set(i, i % 2 == 0 ? std::nan("") : -HUGE_VAL);
                Buffer labels(DType::i64, rows);
                for (std::int64_t r = 0; r < rows; ++r)
                    labels.set(r, static_cast<double>(r % std::min<std::int64_t>(cols, 3)));
                expect_same_tally(random_buffer(dtype, 1, 2), logits, labels, rows, cols);
            }
        }
    }
}

TEST(CudaTallyBatch, TakesARowOfInfinitiesAndOneOfNaN) {
    HALFTONE_NEEDS_CUDA();
    const double no = std::nan(""), low = -HUGE_VAL;
    const Buffer logits(DType::f32, {low, low, no, no, 1, no});
    expect_same_tally(Buffer(DType::f32, {1}), logits, Buffer(DType::i64, {0, 0, 1}), 3, 2);
    expect_same_tally(Buffer(DType::f32, {1}), logits, Buffer(DType::i64, {1, 1, 0}), 3, 2);
}

TEST(CudaTallyBatch, CountsMoreRowsThanItsWarps) {
    HALFTONE_NEEDS_CUDA();
    const std::int64_t rows = 1000, cols = 3;
    const Buffer logits = random_buffer(DType::f16, rows * cols, 3);
    expect_same_tally(Buffer(DType::f32, {0.5}), logits, Buffer(DType::i64, rows), rows, cols);
}

TEST(CudaGatherStep, CopiesWhatIsGivenAndLeavesTheRest) {
    HALFTONE_NEEDS_CUDA();
    const DeviceValue<BatchTally> tally({1.5, 2, 3});
    const DeviceValue<Judgement> judgement({1, 4, 16, 5, 6, 7, 8, 9});
    const DeviceValue<UpdateCounts> counts({10, 11});
    const DeviceValue<std::int64_t> updates(std::int64_t{1} << 40);
    const DeviceValue<float> loss_scale(1024), next(512), lr(0.1f), f16_max(100);
    const DeviceValue<std::int32_t> tracker(12);
    StepFigures before{};
    before.next_loss_scale = -1;
    const DeviceValue<StepFigures> figures(before);
    StepSources sources;
    sources.tally = tally.get();
    sources.judgement = judgement.get();
    sources.counts = counts.get();
    sources.updates = updates.get();
    sources.loss_scale = loss_scale.get();
    sources.lr = lr.get();
    sources.scaled_f16_max = f16_max.get();
    sources.growth_tracker = tracker.get();
    cuda::gather_step(figures.get(), sources, {});
    const StepFigures f = figures.host();
    EXPECT_EQ(f.tally.loss_sum, 1.5);
    EXPECT_EQ(f.tally.samples, 3);
    EXPECT_EQ(f.judgement.abs_max, 4);
    EXPECT_EQ(f.judgement.total, 9);
    EXPECT_EQ(f.counts.lost, 11);
    EXPECT_EQ(f.updates, std::int64_t{1} << 40);
    EXPECT_EQ(f.loss_scale, 1024);
    EXPECT_EQ(f.next_loss_scale, -1);
    EXPECT_EQ(f.lr, 0.1f);
    EXPECT_EQ(f.scaled_f16_max, 100);
    EXPECT_EQ(f.growth_tracker, 12);
}

TEST(CudaSetLearningRate, FollowsTheCpusSchedule) {
    HALFTONE_NEEDS_CUDA();
    for (const LearningRateSchedule& schedule :
         {LearningRateSchedule{0.2, true, 1000}, LearningRateSchedule{0.1, false, 1000},
          LearningRateSchedule{0.1, true, 0}}) {
        for (const std::int64_t updates : {0, 1, 333, 500, 999, 1000, 5000}) {
            float expected = -1;
            cpu::set_learning_rate(&expected, &updates, schedule, {});
            const DeviceValue<float> lr(-1);
            const DeviceValue<std::int64_t> device_updates(updates);
            cuda::set_learning_rate(lr.get(), device_updates.get(), schedule, {});
            // Two cosines in double of two units each, around 1 + cos: then one rounding to f32.
            const double slack = schedule.base * 4 * 0x1p-52 + 2 * half_ulp(DType::f32, expected);
            EXPECT_NEAR(lr.host(), expected, slack) << updates;
        }
    }
}

}  // namespace
}  // namespace kernels::test
