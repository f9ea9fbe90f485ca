#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "step_support.h"
#include "tasks/task_descriptor.h"

// Two networks that learn from each other: the parameters that each phase updates, the recorded
// figures, and the source of the random numbers.
namespace engine {
namespace {

using testing::Each;
using testing::ElementsAre;

RunConfig gan_config(const std::string& precision) {
    RunConfig config = test::small_run("dcgan", precision);
    config.model.options = {{"latent", std::int64_t{6}}, {"channels", std::int64_t{4}}};
    config.optimizer.kind = "adam";
    config.batch_size = 8;
    return completed(config);
}

/// Task, model and TrainStep of a run on glyphs.
struct Pair {
    explicit Pair(const RunConfig& config_)
        : config(config_),
          data(open_dataset(config.dataset, config.seed).train),
          context(config, default_device()),
          task(make_task(config, data.data->schema())),
          model(make_model(config.model, task->model_shape(), config.seed, default_device())),
          step(config, *task, *model, default_device(), 10),
          feed(make_ring_feed(default_device(), task->schema(true))),
          collator(data, task->schema(true), test::loader_options(config)) {}

    /// The largest change of a parameter of each network in the step.
    std::array<double, 2> advance(std::int64_t index) {
        const RunContext::Entry entered(context);
        const auto before = weights();
        Batch batch;
        collator.make(batch, 0, index);
        step.compute(1, {[&](std::size_t) { return feed->upload(batch); }, [](const auto&) {}},
                     nullptr);
        const auto after = weights();
        std::array<double, 2> moved{};
        for (std::size_t i = 0; i < after.size(); ++i) {
            const bool generator = model->parameters()[i].name.starts_with("generator.");
            for (std::size_t e = 0; e < after[i].size(); ++e) {
                double& largest = moved[generator ? 1 : 0];
                largest = std::max(largest, std::abs(after[i][e] - before[i][e]));
            }
        }
        return moved;
    }
    std::vector<std::vector<double>> weights() const {
        std::vector<std::vector<double>> out;
        for (const Parameter& parameter : model->parameters())
            out.push_back(parameter.tensor.values());
        return out;
    }

    RunConfig config;
    DataPart data;
    RunContext context;
    std::unique_ptr<Task> task;
    std::unique_ptr<Model> model;
    TrainStep step;
    std::unique_ptr<BatchFeed> feed;
    Collator collator;
};

TEST(Gan, MovesBothNetworksInAStepAndRecordsBothLosses) {
    Pair pair(gan_config("fp32"));
    const auto moved = pair.advance(0);
    EXPECT_GT(moved[0], 0);
    EXPECT_GT(moved[1], 0);
    const auto figures = pair.step.figures().host();
    std::array<double, 1> values{};
    pair.task->derive(figures.sums, values);
    EXPECT_EQ(figures.sums.weight, 8);
    // Untrained networks answer nearly 0: a loss of log 2 for each answer.
    EXPECT_NEAR(figures.sums.loss / figures.sums.weight, 2 * std::log(2), 0.5);
    EXPECT_NEAR(values[0], std::log(2), 0.5);
    EXPECT_EQ(figures.updates, 1);
    EXPECT_EQ(figures.further_updates[0], 1);
}

TEST(Gan, SkipsTheDiscriminatorsUpdateAloneWhereOnlyItsGradientsOverflow) {
    RunConfig config = gan_config("amp-fp16");
    config.scaler.init_scale = 0x1p40;
    Pair pair(config);
    EXPECT_THAT(pair.advance(0), ElementsAre(0, 0));
    EXPECT_NE(pair.step.figures().host().gradient_statistics.found_inf, 0);
}

TEST(Gan, DrawsOtherNumbersForEachSampleAndEpochInTrainingAndTheSameInEvaluation) {
    Pair pair(gan_config("fp32"));
    const std::size_t latent = pair.task->schema(true).index("latent");
    const auto drawn = [&](bool training, std::int64_t epoch, std::int64_t index) {
        Collator collator(pair.data, pair.task->schema(training),
                          test::loader_options(pair.config));
        Batch batch;
        collator.make(batch, epoch, index);
        const auto values = batch.fields[latent].values<float>();
        return std::vector<float>(values.begin(), values.end());
    };
    const auto first = drawn(true, 0, 0);
    EXPECT_EQ(first.size(), 8U * 6U);
    EXPECT_EQ(first, drawn(true, 0, 0));
    EXPECT_NE(first, drawn(true, 0, 1));
    EXPECT_NE(first, drawn(true, 1, 0));
    EXPECT_NE(first, drawn(false, 0, 0));
    EXPECT_EQ(drawn(false, 0, 0), drawn(false, 5, 0));
    EXPECT_NE(std::vector<float>(first.begin(), first.begin() + 6),
              std::vector<float>(first.begin() + 6, first.begin() + 12));
}

TEST(Gan, ScalesPixelsToTheRangeOfTheGenerator) {
    const auto task =
        make_task(gan_config("fp32"),
                  classified_images({1, 28, 28}, {.mean = {0.3F}, .deviation = {0.2F}}, {"a"}));
    const Normalization& range = task->schema(true).fields[0].normalization;
    EXPECT_THAT(range.mean, ElementsAre(0.5F));
    EXPECT_THAT(range.deviation, ElementsAre(0.5F));
}

TEST(Gan, HasNoBestEvaluation) {
    const Pair pair(gan_config("fp32"));
    EXPECT_FALSE(pair.task->has_best());
}

}  // namespace
}  // namespace engine
