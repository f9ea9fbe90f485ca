#include "kernels/step_figures.h"

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

}  // namespace
}  // namespace kernels::test
