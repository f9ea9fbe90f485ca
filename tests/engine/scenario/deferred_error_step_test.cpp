#include <gtest/gtest.h>

#include <cmath>

#include "data/image/image_dataset.h"
#include "kernels/cuda_device.h"
#include "needs_cuda.h"
#include "ops/shape/window.h"
#include "support/device_support.h"
#include "tensor/check_values.h"

// An out-of-range class among the labels of a step on a GPU. No host code waits for the error: the
// step's figures report it one step late.
namespace engine {
namespace {

using test::cuda;
using test::labels_of;
using test::small_run;
using test::TrainerFixture;

/// Glyphs have 20 classes.
const std::string not_a_glyph = "cross_entropy: a target of 200 is outside the 20 classes";

std::string words_of(const std::optional<Error>& refused) {
    if (!refused) return {};
    EXPECT_EQ(refused->code(), ErrorCode::value);
    return refused->what();
}

/// LeNet whose batches go through the pinned ring, so that a test can change their labels.
struct RingFixture : TrainerFixture {
    explicit RingFixture(const RunConfig& config) : TrainerFixture(config, cuda) {
        feed = make_ring_feed(cuda, trainer.task().schema(true), {.per_step = accumulate});
    }
    void submit(std::int64_t step, std::int64_t wrong_batch = -1) {
        batches.resize(static_cast<std::size_t>(accumulate));
        for (std::int64_t i = 0; i < accumulate; ++i)
            collator.make(batches[static_cast<std::size_t>(i)], 0, step * accumulate + i);
        if (wrong_batch >= 0) labels_of(batches[static_cast<std::size_t>(wrong_batch)])[3] = 200;
        trainer.submit(batches, *feed);
    }
};

class RefusedStep : public testing::TestWithParam<bool> {};

void expect_told_one_step_late(const RunConfig& config, bool recorded) {
    constexpr int wrong_step = 7;
    RingFixture fixture(config);
    fixture.trainer.set_recording(recorded);
    for (int i = 0; i < 5; ++i) {
        fixture.submit(i);
        (void)fixture.trainer.take(false);
    }
    const auto before = kernels::cuda::call_counts().synchronizations;
    for (int i = 5; i < 10; ++i) {
        fixture.submit(i, i == wrong_step ? config.accumulate - 1 : -1);
        const CompletedStep finished = fixture.trainer.take(false).value();
        EXPECT_EQ(finished.row.step, i) << "the step before, counted from 1";
        EXPECT_EQ(words_of(finished.refused), i == wrong_step + 1 ? not_a_glyph : "")
            << "step " << i;
        EXPECT_EQ(std::isnan(finished.row.loss), i > wrong_step) << "step " << i;
    }
    EXPECT_EQ(kernels::cuda::call_counts().synchronizations, before);
    EXPECT_EQ(words_of(fixture.trainer.take(true).value().refused), "");
    EXPECT_EQ(fixture.trainer.replayed_steps(), recorded ? 10 - 3 : 0);
}

TEST_P(RefusedStep, IsToldOneStepLateWithoutAWait) {
    HALFTONE_NEEDS_CUDA();
    expect_told_one_step_late(small_run("lenet", "fp32"), GetParam());
}

TEST_P(RefusedStep, IsToldOfAnyOfItsBatches) {
    HALFTONE_NEEDS_CUDA();
    RunConfig config = small_run("lenet", "fp32");
    config.accumulate = 2;
    expect_told_one_step_late(config, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Steps, RefusedStep, testing::Bool(), [](const auto& recorded) {
    return recorded.param ? "recorded" : "eager";
});

TEST(RefusedStep, WritesNothingUnderAScalerAndTheNextStepsGoOn) {
    HALFTONE_NEEDS_CUDA();
    RingFixture fixture(small_run("lenet", "amp-fp16"));
    const auto weights = [&] { return fixture.trainer.model().parameters()[0].tensor.values(); };
    for (int i = 0; i < 6; ++i) {
        fixture.submit(i);
        (void)fixture.trainer.take(true);
    }
    const auto before = weights();
    fixture.submit(6, 0);
    const CompletedStep refused = fixture.trainer.take(true).value();
    EXPECT_EQ(words_of(refused.refused), not_a_glyph);
    EXPECT_EQ(refused.row.found_inf, 1);
    EXPECT_EQ(weights(), before);
    const CompletedStep next = fixture.step(7);
    EXPECT_TRUE(std::isfinite(next.row.loss));
    EXPECT_NE(weights(), before);
}

// Labels that are on the device with their images: the host does not have them.
TEST(RefusedStep, NamesALabelOfADataSetThatLiesOnTheDevice) {
    HALFTONE_NEEDS_CUDA();
    const RunConfig config = small_run("lenet", "fp32");
    LabelledImages images{{1, 28, 28}, std::vector<std::uint8_t>(16 * 28 * 28, 100), {}};
    for (std::uint8_t i = 0; i < 16; ++i) images.labels.push_back(i == 9 ? 200 : i % 10);
    const DataPart data =
        make_image_datasets(images, images, std::vector<std::string>(10, "name")).train;
    Trainer trainer(config, cuda, data.data->schema(), 100);
    const Schema& schema = trainer.task().schema(true);
    LoaderOptions options = test::loader_options(config);
    const auto feed = make_feed(cuda, data, schema, options);
    ASSERT_TRUE(feed->indices_only());
    options.indices_only = true;
    Collator collator(data, schema, options);
    std::vector<Batch> batches(1);
    collator.make(batches[0], 0, 0);
    trainer.submit(batches, *feed);
    EXPECT_EQ(words_of(trainer.take(true).value().refused),
              "cross_entropy: a target of 200 is outside the 10 classes");
}

TEST(RefusedStep, IsThrownByAStepThatIsWaitedFor) {
    HALFTONE_NEEDS_CUDA();
    RingFixture fixture(small_run("lenet", "fp32"));
    fixture.submit(0);
    (void)fixture.trainer.take(true);
    labels_of(fixture.batches[0])[0] = -1;
    std::string words;
    try {
        (void)fixture.trainer.step(fixture.batches, *fixture.feed);
    } catch (const Error& error) {
        words = error.what();
    }
    EXPECT_EQ(words, "cross_entropy: a target of -1 is outside the 20 classes");
}

TEST(RefusedStep, IsNotBlamedOnARunThatTakesTurnsWithIt) {
    HALFTONE_NEEDS_CUDA();
    const RunConfig config = small_run("lenet", "fp32");
    RingFixture wrong(config), fine(config);
    for (int i = 0; i < 6; ++i) {
        wrong.submit(i, i == 4 ? 0 : -1);
        fine.submit(i);
        const auto a = wrong.trainer.take(false), b = fine.trainer.take(false);
        if (a) {
            EXPECT_EQ(words_of(a->refused), i == 5 ? not_a_glyph : "") << i;
        }
        if (b) {
            EXPECT_EQ(words_of(b->refused), "") << i;
        }
        for (RingFixture* fixture : {&wrong, &fine})
            EXPECT_FALSE(fixture->trainer.model().parameters()[0].tensor.values().empty());
    }
    // The error in an evaluated batch, with a training step in between.
    labels_of(wrong.batches[0])[2] = 200;
    wrong.trainer.evaluate(wrong.batches[0], *wrong.feed);
    fine.trainer.evaluate(fine.batches[0], *fine.feed);
    fine.submit(6);
    while (const auto finished = fine.trainer.take(true))
        EXPECT_EQ(words_of(finished->refused), "");
    EXPECT_EQ(fine.trainer.take_evaluation().weight, 16);
    std::string words;
    try {
        (void)wrong.trainer.take_evaluation();
    } catch (const Error& error) {
        words = error.what();
    }
    EXPECT_EQ(words, not_a_glyph);
    labels_of(wrong.batches[0])[2] = 2;
    wrong.trainer.evaluate(wrong.batches[0], *wrong.feed);
    EXPECT_EQ(wrong.trainer.take_evaluation().weight, 16);
}

TEST(RefusedStep, LeavesNothingBehindWhenItFailsForAnotherReason) {
    HALFTONE_NEEDS_CUDA();
    RingFixture failing(small_run("lenet", "fp32")), other(small_run("lenet", "fp32"));
    failing.trainer.set_recording(false);
    failing.batches.resize(1);
    failing.collator.make(failing.batches[0], 0, 0);
    labels_of(failing.batches[0])[0] = 200;
    class Failing final : public BatchFeed {
    public:
        explicit Failing(BatchFeed& inner) : inner_(inner) {}
        DeviceBatch upload(const Batch& batch) override {
            if (++uploads_ == 2) throw Error(ErrorCode::io, "no second batch");
            return inner_.upload(batch);
        }
        void used(const DeviceBatch& batch) override { inner_.used(batch); }

    private:
        BatchFeed& inner_;
        int uploads_ = 0;
    } feed(*failing.feed);
    const std::vector<Batch> two{failing.batches[0], failing.batches[0]};
    EXPECT_THROW(failing.trainer.submit(two, feed), Error);
    other.submit(0);
    EXPECT_EQ(words_of(other.trainer.take(true).value().refused), "");
}

}  // namespace
}  // namespace engine
