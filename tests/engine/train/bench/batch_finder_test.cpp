#include "engine/train/batch_finder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/dataset.h"
#include "data/loader/batch_loader.h"
#include "engine/base/error.h"
#include "tensor/memory/memory.h"
#include "train/bench/bench_steps.h"
#include "train/run/trainer.h"
#include "train/step/batch_feed.h"

namespace engine {
namespace {

using ::testing::HasSubstr;

RunConfig config_of(const std::vector<std::string>& overrides) {
    std::vector<std::string> all{"device=cpu", "precision.preset=fp32", "threads=1"};
    all.insert(all.end(), overrides.begin(), overrides.end());
    const ParsedConfig parsed = parse_run_config("{}", all);
    EXPECT_TRUE(parsed.errors.empty());
    return parsed.config;
}

FoundBatch find(const RunConfig& config, std::int64_t memory) {
    FindBatchOptions options;
    options.memory = memory;
    return find_largest_batch(config, options);
}

/// The peak memory of two steps at this batch size, measured without the finder.
std::int64_t peak_of(RunConfig config, std::int64_t batch) {
    config.batch_size = batch;
    const Schema data = open_dataset(config.dataset, config.seed).train.data->schema();
    Trainer trainer(config, Device{}, data, 0);
    const AccountingScope accounting(trainer.accounting());
    const std::vector<Batch> batches{random_batch(trainer.task().schema(true), batch, config.seed)};
    FixedFeed feed(Device{}, trainer.task().schema(true), batches.front());
    for (int i = 0; i < 2; ++i) trainer.step(batches, feed);
    return trainer.accounting()->peak();
}

TEST(BatchFinder, TheFoundBatchFitsAndTheNextLargerTriedDoesNot) {
    for (const auto& overrides :
         std::vector<std::vector<std::string>>{{"model.kind=lenet"},
                                               {"model.kind=mlp", "dataset.kind=spirals"},
                                               {"model.kind=lenet", "precision.preset=amp-bf16"}}) {
        const RunConfig config = config_of(overrides);
        constexpr std::int64_t limit = 3'000'000;
        const FoundBatch found = find(config, limit);
        SCOPED_TRACE(overrides.front());
        ASSERT_GT(found.batch_size, 0);
        EXPECT_LE(peak_of(config, found.batch_size), limit);
        EXPECT_EQ(found.peak_bytes, peak_of(config, found.batch_size));
        if (found.too_large == 0) {
            EXPECT_EQ(found.batch_size, found.samples) << "the data set was the limit";
            continue;
        }
        EXPECT_GT(peak_of(config, found.too_large), limit);
        EXPECT_LE(found.too_large,
                  found.batch_size + std::max<std::int64_t>(1, found.batch_size / 16));
    }
}

TEST(BatchFinder, NeverTakesMoreThanTheLimitByTheAccounting) {
    const FoundBatch found = find(config_of({"model.kind=lenet"}), 2'000'000);
    bool refused = false;
    for (const BatchTrial& trial : found.trials) {
        EXPECT_LE(trial.peak_bytes, 2'000'000) << trial.batch_size;
        refused = refused || !trial.fits;
    }
    EXPECT_TRUE(refused);
}

TEST(BatchFinder, PredictsFromWhatGrowsWithTheBatch) {
    const FoundBatch found = find(config_of({"model.kind=lenet"}), 8'000'000);
    EXPECT_GT(found.fixed_bytes, 2 * 4 * 44'426) << "weights and gradients of LeNet, at the least";
    // Block sizes are rounded up by at most a quarter.
    EXPECT_NEAR(static_cast<double>(found.predicted) / static_cast<double>(found.batch_size), 1,
                0.4);
    const BatchTrial& last = found.trials[found.trials.size() - 2];
    EXPECT_GT(last.predicted_bytes, 0);
}

TEST(BatchFinder, IsLimitedByTheTrainingSamples) {
    const FoundBatch found =
        find(config_of({"model.kind=mlp", "dataset.kind=spirals", "dataset.train_limit=150"}), 0);
    EXPECT_EQ(found.batch_size, 150);
    EXPECT_EQ(found.samples, 150);
    EXPECT_EQ(found.too_large, 0);
    EXPECT_GT(found.memory, 0) << "what the device has free";
}

TEST(BatchFinder, RowsOfATextReadStreamsOfTheirOwn) {
    const RunConfig config = config_of({"dataset.kind=text-generated", "model.kind=rnn-lm",
                                        "dataset.train_limit=2000", "bptt=10"});
    const FoundBatch found = find(config, 40'000'000);
    EXPECT_LE(found.batch_size, found.samples);
    EXPECT_GT(found.samples, 0);
    EXPECT_GT(found.batch_size, 1);
}

TEST(BatchFinder, RefusesWhatHasNoBatchSizeToFind) {
    RunConfig config = config_of({});
    config.dataset.order = "order.txt";
    try {
        find(config, 0);
        FAIL() << "not refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::settings);
        EXPECT_THAT(error.what(), HasSubstr("dataset.order"));
    }
}

TEST(BatchFinder, SaysWhenNotEvenOneSampleFits) {
    try {
        find(config_of({"model.kind=lenet"}), 100'000);
        FAIL() << "not refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::memory);
        EXPECT_THAT(error.what(), HasSubstr("Not even a batch of 1"));
        EXPECT_FALSE(error.hint().empty());
    }
}

// Their memory counts from the first on, so that not even the trial takes more than the limit.
TEST(BatchFinder, EndsAtOnceWhereTheWeightsAloneAreMoreThanTheLimit) {
    const RunConfig config =
        config_of({"model.kind=mlp", "dataset.kind=spirals", "model.options.hidden=[2000,2000]"});
    std::vector<BatchTrial> trials;
    FindBatchOptions options;
    options.memory = 10'000'000;  // of 16 MB of weights
    options.after = [&](const BatchTrial& trial) { trials.push_back(trial); };
    EXPECT_THROW(find_largest_batch(config, options), Error);
    ASSERT_EQ(trials.size(), 3U) << "batches of 4, 2 and 1";
    for (const BatchTrial& trial : trials) {
        EXPECT_FALSE(trial.fits);
        EXPECT_LE(trial.peak_bytes, options.memory);
        EXPECT_EQ(trial.step_ms, 0);
    }
}

TEST(BatchFinder, EndsWhenAskedTo) {
    FindBatchOptions options;
    options.memory = 5'000'000;
    int asked = 0;
    options.before = [&](std::int64_t) { return ++asked < 3; };
    const FoundBatch found = find_largest_batch(config_of({}), options);
    EXPECT_EQ(asked, 3);
    EXPECT_EQ(found.trials.size(), 2U);
}

/// The losses of four steps. `between` is called after the second.
std::vector<float> losses(const std::function<void()>& between) {
    const RunConfig config = config_of(
        {"precision.preset=amp-fp16", "dataset.train_limit=64", "batch_size=16", "threads=2"});
    const DataParts data = open_dataset(config.dataset, config.seed);
    Trainer trainer(config, Device{}, data.train.data->schema(), 0);
    const Schema& schema = trainer.task().schema(true);
    BatchLoader loader(data.train, schema, {.sampler = {.batch_size = 16, .seed = 1}});
    const auto feed = make_ring_feed(Device{}, schema);
    std::vector<float> out;
    std::vector<Batch> batch(1);
    for (int step = 0; step < 4; ++step) {
        if (step == 2) between();
        loader.next(batch.front());
        out.push_back(trainer.step(batch, *feed).row.loss);
    }
    const TrainingState state = trainer.saved_state();
    for (const auto& [name, tensor] : state.weights) {
        for (const double value : tensor.values()) out.push_back(static_cast<float>(value));
    }
    return out;
}

TEST(BatchFinder, LeavesARunBesideItAsItIs) {
    const auto alone = losses([] {});
    const auto beside = losses([] { find(config_of({"model.kind=lenet"}), 2'000'000); });
    EXPECT_EQ(beside, alone) << "bit for bit";
}

TEST(BatchFinder, ReadsSizesOfMemory) {
    EXPECT_EQ(parse_bytes("2GB"), 2'000'000'000);
    EXPECT_EQ(parse_bytes("500 MB"), 500'000'000);
    EXPECT_EQ(parse_bytes("1.5GiB"), 1'610'612'736);
    EXPECT_EQ(parse_bytes("64m"), 64'000'000);
    EXPECT_EQ(parse_bytes("1000000"), 1'000'000);
    for (const char* wrong : {"", "GB", "-2GB", "0", "2XB", "2GB!", "nan", "inf", "1e300", "0.1"})
        EXPECT_EQ(parse_bytes(wrong), 0) << wrong;
}

TEST(BatchFinder, GoesBeyondTheTrainingPartWhereItIsAskedTo) {
    const RunConfig config =
        config_of({"model.kind=mlp", "dataset.kind=spirals", "dataset.train_limit=64"});
    constexpr std::int64_t limit = 3'000'000;
    EXPECT_EQ(find(config, limit).batch_size, 64);
    FindBatchOptions options;
    options.memory = limit;
    options.beyond_data = true;
    const FoundBatch found = find_largest_batch(config, options);
    EXPECT_GT(found.batch_size, 64);
    EXPECT_EQ(found.samples, 0);
    EXPECT_GT(found.too_large, found.batch_size) << "memory was the limit";
}

}  // namespace
}  // namespace engine
