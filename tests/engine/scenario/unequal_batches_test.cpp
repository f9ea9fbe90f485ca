#include <gtest/gtest.h>

#include "support/rank_steps.h"

// A step of unequal batches, or of fewer than usual, has the gradient of one batch of all its
// samples. Everything in f32 and without batch norm, so that the two differ by rounding alone.
namespace engine {
namespace {

using test::alone;
using test::gap;
using test::Gradients;
using test::Numbers;
using test::on_ranks;
using test::order_bound;
using test::RankRun;
using test::Step;
using test::together;

/// Nine samples, whose epoch is one step of batches of this size.
RunConfig nine_samples(std::int64_t batch) {
    RunConfig config = test::small_run("lenet", "fp32");
    config.dataset.train_limit = 9;
    config.batch_size = batch;
    config.accumulate = (9 + batch - 1) / batch;
    return config;
}

double lenet_bound(const RunConfig& config) { return order_bound(config, 9 * 24 * 24, 5); }

TEST(UnequalBatches, ALastSmallerOneCountsByItsSamples) {
    const Step one = alone(nine_samples(9));
    for (const std::int64_t batch : {4, 2, 5, 7}) {  // 4 + 4 + 1, 2 + 2 + 2 + 2 + 1, 5 + 4, 7 + 2
        const RunConfig config = nine_samples(batch);
        const Step many = alone(config);
        EXPECT_EQ(many.row.samples, 9);
        EXPECT_LE(gap(many.gradients, one.gradients), lenet_bound(config)) << batch;
        EXPECT_NEAR(many.row.loss, one.row.loss, 1e-6 * one.row.loss) << batch;
    }
}

TEST(UnequalBatches, OnRanksTheyAreThoseOfOneProcess) {
    const Step one = alone(nine_samples(9));
    for (const int ranks : {2, 3}) {
        const RunConfig config = nine_samples(4);
        for (const Step& each : together(config, ranks))
            EXPECT_LE(gap(each.gradients, one.gradients), lenet_bound(config)) << ranks;
    }
}

/// The gradients of a step on these batches of the first epoch.
Numbers gradients_of(const RunConfig& config, const std::vector<std::int64_t>& which,
                     const std::shared_ptr<Communicator>& line = nullptr) {
    RankRun run(config, line);
    std::vector<Batch> batches(which.size());
    for (std::size_t i = 0; i < which.size(); ++i) run.collator.make(batches[i], 0, which[i]);
    const auto seen = std::make_shared<Gradients>();
    run.trainer.attach(seen);
    (void)run.step(batches);
    return seen->found;
}

TEST(UnequalBatches, FewerThanUsualAreNotDividedByTheSetting) {
    RunConfig config = test::small_run("lenet", "fp32");
    config.dataset.train_limit = 8;
    config.batch_size = 4;
    config.accumulate = 4;
    RunConfig whole = config;
    whole.batch_size = 8;
    whole.accumulate = 1;
    EXPECT_LE(gap(gradients_of(config, {0, 1}), gradients_of(whole, {0})), lenet_bound(config));
    EXPECT_EQ(gradients_of(config, {0}), gradients_of(
        [&] { RunConfig alone = config; alone.accumulate = 1; return alone; }(), {0}));
}

std::int64_t windows_of(const RunConfig& config) {
    RankRun run(config);
    return run.collator.batches_per_epoch();
}

/// `first` and `last`: terms of the loss in a whole window and in the last, shorter one.
void expect_weighed_windows(RunConfig config, double first, double last) {
    const std::int64_t windows = windows_of(config);
    config.accumulate = 2;
    Numbers wanted = gradients_of(config, {windows - 2});
    const Numbers shorter = gradients_of(config, {windows - 1});
    for (std::size_t t = 0; t < wanted.size(); ++t)
        for (std::size_t i = 0; i < wanted[t].size(); ++i)
            wanted[t][i] = (first * wanted[t][i] + last * shorter[t][i]) / (first + last);
    const double bound = order_bound(config, 4 * 12, 2 * 6 + 4);
    EXPECT_LE(gap(gradients_of(config, {windows - 2, windows - 1}), wanted), bound);
    config.workers = 2;
    on_ranks(2, [&](const auto& line) {
        EXPECT_LE(gap(gradients_of(config, {windows - 2, windows - 1}, line), wanted), bound);
    });
}

TEST(UnequalBatches, AShorterWindowCountsByItsTokens) {
    // 2000 tokens in 4 streams: 499 targets each, of which 5 a window leave 4.
    expect_weighed_windows(test::small_transformer_run("fp32"), 5, 4);
}

TEST(UnequalBatches, AShorterWindowCountsByItsMaskedTokens) {
    // Windows of 12 leave one of 7: 2 masked tokens, and 1.
    expect_weighed_windows(test::small_masked_run("fp32"), 2, 1);
}

}  // namespace
}  // namespace engine
