#include "train/run/training_batches.h"

#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "engine/session/session.h"
#include "support/device_support.h"
#include "temp_folder.h"
#include "train/run/trainer.h"

namespace engine {
namespace {

/// ResNet-18 on glyphs; the stem for ImageNet leaves a single pixel of them.
RunConfig residual(const char* stem, std::int64_t samples) {
    RunConfig config = test::small_run("resnet18", "fp32");
    config.model.options["stem"] = std::string(stem);
    config.dataset.train_limit = samples;
    config.batch_size = 4;
    return config;
}

std::int64_t min_last(const RunConfig& config, int ranks = 1) {
    return training_sampler(config, open_dataset(config.dataset, config.seed).train, ranks)
        .min_last;
}

TEST(TrainingSampler, ALastBatchThatGivesABatchNormOneValueJoinsTheOneBefore) {
    EXPECT_EQ(min_last(residual("imagenet", 9)), 2);
    EXPECT_EQ(min_last(residual("imagenet", 10)), 1) << "two samples do";
    EXPECT_EQ(min_last(residual("imagenet", 8)), 1);
    EXPECT_EQ(min_last(residual("cifar", 9)), 1) << "its last picture has several pixels";
    RunConfig plain = test::small_run("lenet", "fp32");
    plain.dataset.train_limit = 9;
    plain.batch_size = 4;
    EXPECT_EQ(min_last(plain), 1);
    EXPECT_EQ(min_last(test::small_text_run("fp32")), 1);
}

TEST(TrainingSampler, EachRankNeedsTwoUnlessTheNormIsSynchronised) {
    RunConfig config = residual("imagenet", 11);
    EXPECT_EQ(min_last(config), 1);
    EXPECT_EQ(min_last(config, 2), 4);
    config.sync_batch_norm = true;
    EXPECT_EQ(min_last(config, 2), 1);
    config.dataset.train_limit = 9;
    EXPECT_EQ(min_last(config, 2), 2);
}

TEST(TrainingSampler, ItsBatchesTrain) {
    const RunConfig config = residual("imagenet", 9);
    const DataPart part = open_dataset(config.dataset, config.seed).train;
    Trainer trainer(config, Device{}, part.data->schema(), 10);
    const auto feed = make_ring_feed(Device{}, trainer.task().schema(true));
    const auto last_of = [&](const SamplerOptions& options) {
        Collator collator(part, trainer.task().schema(true), {.sampler = options});
        std::vector<Batch> batches(1);
        collator.make(batches[0], 0, collator.batches_per_epoch() - 1);
        return batches;
    };
    const SamplerOptions options = training_sampler(config, part);
    SamplerOptions alone = options;
    alone.min_last = 1;
    EXPECT_THROW((void)trainer.step(last_of(alone), *feed), Error) << "what the rule is for";
    const std::vector<Batch> joined = last_of(options);
    EXPECT_EQ(joined[0].rows(), 5);
    EXPECT_FALSE(joined[0].full);
    EXPECT_EQ(trainer.step(joined, *feed).row.samples, 5);
}

TEST(TrainingSampler, ARunTellsTheStepsOfAnEpochWithTheJoinedBatch) {
    const test_support::TempFolder dir;
    RunConfig config = residual("imagenet", 9);
    config.epochs = 3;
    config.max_steps = 1;
    config.checkpoint.at_end = false;
    SessionOptions options;
    options.evaluate = false;
    Session session(config, std::make_shared<ComputeThread>(),
                    std::make_shared<RunStore>(dir / "runs"), options);
    session.post(Command::start);
    ASSERT_TRUE(session.wait(600));
    std::vector<std::int64_t> told;
    for (const Event& event : session.drain())
        if (const auto* started = std::get_if<RunStarted>(&event))
            told.push_back(started->steps_per_epoch);
    EXPECT_EQ(told, (std::vector<std::int64_t>{2})) << "4 and 5 samples";
}

}  // namespace
}  // namespace engine
