#include "train/step/evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "ops/loss/cross_entropy.h"
#include "step_support.h"
#include "tasks/task_descriptor.h"

namespace engine {
namespace {

using test::labels_of;
using test::loader_options;
using test::small_run;

/// Task, model and Evaluator of a run, without any training step.
struct Evaluation {
    explicit Evaluation(const RunConfig& config_)
        : config(config_),
          data(open_dataset(config.dataset, config.seed).test),
          context(config, default_device()),
          task(make_task(config, data.data->schema())),
          model(make_model(config.model, task->model_shape(), config.seed, default_device())),
          precision(resolve(config.precision), config.scaler, *model, default_device()),
          evaluator(*task, *model, precision, default_device()),
          feed(make_ring_feed(default_device(), task->schema(false))),
          collator(data, task->schema(false), loader_options(config)) {}

    const Batch& make(std::int64_t index) {
        collator.make(batch, 0, index);
        return batch;
    }
    void add(std::int64_t index) {
        const RunContext::Entry entered(context);
        evaluator.add(make(index), *feed);
    }

    RunConfig config;
    DataPart data;
    RunContext context;
    std::unique_ptr<Task> task;
    std::unique_ptr<Model> model;
    MixedPrecision precision;
    Evaluator evaluator;
    std::unique_ptr<BatchFeed> feed;
    Collator collator;
    Batch batch;
};

TEST(Evaluator, AddsUpTheTasksSumsOverBatchesUntilTheyAreTaken) {
    Evaluation run(small_run("mlp", "fp32"));
    double loss = 0;
    for (int i = 0; i < 3; ++i) {
        run.add(i);
        const GradMode off(false);
        const DeviceBatch batch = run.feed->upload(run.batch);
        loss += 16 * cross_entropy(run.model->forward({batch[0]}).front(), batch[1]).item();
    }
    const MetricSums sums = run.evaluator.take();
    EXPECT_EQ(sums.weight, 48);
    EXPECT_EQ(sums.loss, loss);
    EXPECT_EQ(run.evaluator.take().weight, 0) << "taken once";
}

TEST(Evaluator, ComputesInEvaluationModeAndLeavesTheModelInTraining) {
    RunConfig config = small_run("resnet18", "fp32");
    config.dataset.kind = "glyphs";
    config.dataset.test_limit = 8;
    config.batch_size = 2;
    Evaluation run(config);
    const auto state = [&] {
        std::vector<std::vector<double>> out;
        for (const auto& buffer : run.model->buffers()) out.push_back(buffer.tensor.values());
        return out;
    };
    const auto before = state();
    ASSERT_FALSE(before.empty());
    run.add(0);
    EXPECT_EQ(state(), before) << "batch norm's statistics are those of training alone";
    EXPECT_TRUE(run.model->training);
    for (const auto& parameter : run.model->parameters())
        EXPECT_FALSE(parameter.tensor.grad().defined());
    EXPECT_EQ(run.evaluator.take().weight, 2);
}

TEST(Evaluator, ThrowsARefusedValueWhenTheSumsAreTakenAndGoesOn) {
    Evaluation run(small_run("mlp", "fp32"));
    const RunContext::Entry entered(run.context);
    const auto evaluate = [&](std::int64_t label) {
        run.make(0);
        labels_of(run.batch)[3] = label;
        run.evaluator.add(run.batch, *run.feed);
        return run.evaluator.take().weight;
    };
    EXPECT_THROW((void)evaluate(7), Error) << "there are two classes";
    EXPECT_EQ(evaluate(1), 16);
}

/// The sum of loss times tokens over the first `count` windows. Each window starts with the state
/// that the previous one ended with.
double carried_loss(Evaluation& run, std::int64_t count) {
    const GradMode off(false);
    run.model->training = false;
    double loss = 0;
    const DeviceRecord<MetricSums> sums(default_device());
    sums.clear();
    TensorList state;
    for (const Shape& shape : run.model->state_shapes(run.config.batch_size))
        state.push_back(Tensor::zeros(shape, DType::f32));
    for (std::int64_t i = 0; i < count; ++i) {
        const DeviceBatch batch = run.feed->upload(run.make(i));
        TaskStep step(*run.model, batch, {}, sums.data());
        step.state = state;
        loss += static_cast<double>(batch.samples) * run.task->losses(step).front().item();
        state = step.next_state;
    }
    run.model->training = true;
    return loss;
}

TEST(Evaluator, CarriesTheStateThroughAPassAndBeginsTheNextOneCold) {
    Evaluation run(test::small_text_run("fp32"));
    const double expected = carried_loss(run, 4);
    for (int pass = 0; pass < 2; ++pass) {
        run.evaluator.begin();
        for (int i = 0; i < 4; ++i) run.add(i);
        const MetricSums sums = run.evaluator.take();
        EXPECT_EQ(sums.weight, 4 * 4 * 5) << "tokens";
        EXPECT_EQ(sums.loss, expected) << "pass " << pass;
    }
    for (int i = 0; i < 4; ++i) run.add(i);
    EXPECT_NE(run.evaluator.take().loss, expected) << "without begin() the state is warm";
}

}  // namespace
}  // namespace engine
