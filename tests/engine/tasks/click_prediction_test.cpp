#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "data/clicks/click_schema.h"
#include "kernels/scores.h"
#include "support/click_run.h"
#include "tasks/task_descriptor.h"
#include "train/step/evaluator.h"

namespace engine {
namespace {

using kernels::ScoreBins;
using test::small_click_run;

/// Returns its only input number as the logit.
class FirstNumber final : public Model {
public:
    FirstNumber() : Model(std::nullopt, default_device()) {}
    TensorList forward(const TensorList& inputs) override { return {inputs.front()}; }
};

struct ClickFigures {
    double loss, auc, accuracy;
};

using Rows = std::vector<std::pair<std::vector<double>, std::vector<double>>>;

DeviceBatch batch_of(const std::vector<double>& logits, const std::vector<double>& labels) {
    const auto rows = static_cast<std::int64_t>(labels.size());
    return {{Tensor::zeros({rows, 1}, DType::i64), Tensor::of(logits, {rows, 1}),
             Tensor::of(labels, {rows}, DType::i64)},
            rows,
            rows};
}

/// Measures batches of logits and labels: in training, or as one evaluation.
ClickFigures measure_clicks(const Rows& batches, bool evaluation) {
    const auto task = make_task(small_click_run("fp32"), click_schema({"x"}, 1, 1));
    FirstNumber model;
    model.training = !evaluation;
    const DeviceRecord<MetricSums> sums(default_device());
    sums.clear();
    const Tensor counts = Tensor::zeros({task->pass_counts()}, DType::i64);
    for (const auto& [logits, labels] : batches) {
        const DeviceBatch batch = batch_of(logits, labels);
        TaskStep step(model, batch, {}, sums.data());
        if (evaluation) step.pass_counts = counts;
        (void)task->losses(step);
    }
    if (evaluation) task->end_pass(counts, sums.data());
    const MetricSums host = sums.host();
    std::array<double, 2> values{};
    task->derive(host, values);
    return {host.loss / host.weight, values[0], values[1]};
}

const Rows two_batches = {{{3, 1, -1, -2}, {1, 0, 1, 0}}, {{0.5, -3}, {0, 1}}};

TEST(ClickPrediction, EvaluationComparesAllPairsOfAPart) {
    const ClickFigures found = measure_clicks(two_batches, true);
    // Clicked: 3, -1, -3; not clicked: 1, -2, 0.5. Each has three pairs: 3 wins three, -1 one and
    // -3 none.
    EXPECT_DOUBLE_EQ(found.auc, 4.0 / 9);
    EXPECT_DOUBLE_EQ(found.accuracy, 2.0 / 6);
    double loss = 0;
    for (const auto& [logits, labels] : two_batches)
        for (std::size_t i = 0; i < labels.size(); ++i)
            loss += std::log1p(std::exp(labels[i] == 1 ? -logits[i] : logits[i]));
    EXPECT_NEAR(found.loss, loss / 6, 1e-6);
}

TEST(ClickPrediction, TrainingComparesPairsWithinEachBatch) {
    // Three of four pairs in the first batch, and none of one in the second.
    EXPECT_DOUBLE_EQ(measure_clicks(two_batches, false).auc, 3.0 / 5);
    EXPECT_DOUBLE_EQ(measure_clicks(two_batches, false).accuracy, 2.0 / 6);
}

TEST(ClickPrediction, AucOfOneClassAloneIsUnknown) {
    const ClickFigures found = measure_clicks({{{1, 2}, {1, 1}}}, true);
    EXPECT_TRUE(std::isnan(found.auc));
    EXPECT_EQ(found.accuracy, 1);
}

TEST(ClickPrediction, IsWhatADlrmLearnsFromClicks) {
    const Schema clicks = click_schema({"x"}, 1, 5);
    EXPECT_EQ(task_of(small_click_run("fp32"), clicks).kind, "click-prediction");
    const auto task = make_task(small_click_run("fp32"), clicks);
    EXPECT_EQ(task->metrics()[0].key, "auc");
    EXPECT_TRUE(task->metrics()[0].higher_is_better);
    EXPECT_EQ(task->model_shape().inputs.size(), 2u);
}

TEST(ClickPrediction, LearnsInEveryPrecisionWithEachOptimizerOfSparseGradients) {
    for (const auto& [precision, optimizer, lr] :
         {std::tuple{"fp32", "sparse-adam", 0.03}, std::tuple{"amp-fp16", "adagrad", 0.1},
          std::tuple{"amp-bf16", "sgd", 1.0}, std::tuple{"o2-fp16", "sparse-adam", 0.03}}) {
        SCOPED_TRACE(std::string(precision) + " " + optimizer);
        RunConfig config = small_click_run(precision, optimizer);
        config.batch_size = 64;
        config.schedule.kind = "constant";
        config.optimizer.options["lr"] = lr;
        test::TrainerFixture fixture(config, default_device());
        EXPECT_TRUE(fixture.trainer.model().sparse_gradients);
        for (int i = 0; i < 150; ++i) fixture.step(i);
        for (int i = 0; i < 16; ++i) {
            fixture.collator.make(fixture.batches[0], 0, 160 + i);
            fixture.trainer.evaluate(fixture.batches[0], *fixture.feed);
        }
        std::array<double, 2> values{};
        fixture.trainer.task().derive(fixture.trainer.take_evaluation(), values);
        // With 1,024 clicks, the standard deviation of a chance result is below 0.02.
        EXPECT_GT(values[0], 0.6) << "0.5 is chance";
    }
}

}  // namespace
}  // namespace engine
