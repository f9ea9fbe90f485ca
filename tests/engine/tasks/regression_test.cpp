#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/base/error.h"
#include "step_support.h"
#include "tasks/task_descriptor.h"

// Metrics of regression, in the target's own units.
namespace engine {
namespace {

constexpr double mean = 10, deviation = 4;

Schema prices(bool normalized = true) {
    Schema schema;
    schema.add({.name = "features", .kind = FieldKind::features, .shape = {1}});
    FieldSpec target{.name = "target", .kind = FieldKind::value, .shape = {1}, .names = {"price"}};
    if (normalized)
        target.normalization = {{static_cast<float>(mean)}, {static_cast<float>(deviation)}};
    schema.add(std::move(target));
    return schema;
}

/// A model that predicts its input.
class Echo final : public SimpleModel {
public:
    Echo() : SimpleModel(std::nullopt, default_device()) {}
    using SimpleModel::forward;
    Tensor forward(const Tensor& x) override { return x; }
};

struct RegressionFigures {
    double loss, rmse, r2;
};

/// Measures batches of predictions and targets, both standardised.
RegressionFigures measure_regression(
    const std::vector<std::pair<std::vector<double>, std::vector<double>>>& batches,
    bool normalized = true) {
    RunConfig config = test::small_run("mlp", "fp32");
    const auto task = make_task(config, prices(normalized));
    Echo model;
    const DeviceRecord<MetricSums> sums(default_device());
    sums.clear();
    for (const auto& [predictions, targets] : batches) {
        const auto rows = static_cast<std::int64_t>(targets.size());
        const DeviceBatch batch{
            {Tensor::of(predictions, {rows, 1}), Tensor::of(targets, {rows, 1})}, rows, rows};
        TaskStep step(model, batch, {}, sums.data());
        (void)task->losses(step);
    }
    const MetricSums host = sums.host();
    std::array<double, 2> values{};
    task->derive(host, values);
    return {host.loss / host.weight, values[0], values[1]};
}

TEST(Regression, DerivesRmseInTheTargetsUnitsAndR2) {
    // Multiples of 1/4, so that no sum is rounded.
    const std::vector<double> predictions{0.5, -1, 2, 0.25, 1}, targets{1, -1.5, 1.75, 0, -0.25};
    double squares = 0, spread = 0, middle = 0;
    for (const double target : targets) middle += target / 5;
    for (std::size_t i = 0; i < 5; ++i) {
        squares += std::pow(predictions[i] - targets[i], 2);
        spread += std::pow(targets[i] - middle, 2);
    }
    // Batches of different sizes weigh by their samples.
    const RegressionFigures found = measure_regression(
        {{{predictions.begin(), predictions.begin() + 2}, {targets.begin(), targets.begin() + 2}},
         {{predictions.begin() + 2, predictions.end()}, {targets.begin() + 2, targets.end()}}});
    EXPECT_DOUBLE_EQ(found.rmse, deviation * std::sqrt(squares / 5));
    EXPECT_NEAR(found.r2, 1 - squares / spread, 1e-12);
    EXPECT_NEAR(found.loss, squares / 5, 1e-6) << "the mean squared error as it is trained";
}

TEST(Regression, OfATargetThatIsNotNormalisedTheUnitIsOne) {
    EXPECT_EQ(measure_regression({{{1, 3}, {0, 0}}}, /*normalized=*/false).rmse, std::sqrt(5.0));
}

TEST(Regression, APerfectPredictionHasR2OfOneAndTheMeanHasZero) {
    EXPECT_EQ(measure_regression({{{-1, 1}, {-1, 1}}}).r2, 1);
    EXPECT_EQ(measure_regression({{{-1, 1}, {-1, 1}}}).rmse, 0);
    EXPECT_EQ(measure_regression({{{0, 0}, {-1, 1}}}).r2, 0);
    EXPECT_LT(measure_regression({{{1, -1}, {-1, 1}}}).r2, 0) << "worse than the mean";
}

TEST(Regression, R2OfATargetThatNeverChangesIsUnknown) {
    EXPECT_TRUE(std::isnan(measure_regression({{{0, 1}, {0.5, 0.5}}}).r2));
    EXPECT_TRUE(std::isfinite(measure_regression({{{0, 1}, {0.5, 0.5}}}).rmse));
}

TEST(Regression, ItsErrorIsInTheUnitOfTheTarget) {
    const auto task = make_task(test::small_run("mlp", "fp32"), prices());
    const std::vector<Metric> metrics = task->metrics();
    ASSERT_EQ(metrics.size(), 2u);
    EXPECT_EQ(metrics[0].key, "rmse");
    EXPECT_EQ(metrics[0].unit, "price");
    EXPECT_FALSE(metrics[0].higher_is_better);
    EXPECT_EQ(metrics[1].key, "r2");
    EXPECT_TRUE(metrics[1].higher_is_better);
    EXPECT_EQ(task->model_shape().outputs, 1);
}

/// Targets that are a function of the features.
class Linear2 final : public Dataset {
public:
    Linear2() {
        schema_.add({.name = "features",
                     .kind = FieldKind::features,
                     .shape = {2},
                     .normalization = {{0, 0}, {1, 1}}});
        schema_.add({.name = "target",
                     .kind = FieldKind::value,
                     .shape = {1},
                     .normalization = {{5}, {2}}});
    }
    std::int64_t size() const override { return 256; }
    const Schema& schema() const override { return schema_; }
    void read(std::int64_t index, const SampleFields& out) const override {
        const float a = test::number_of(index, 0, 0), b = test::number_of(index, 0, 1);
        out.f32(0)[0] = a;
        out.f32(0)[1] = b;
        out.f32(1)[0] = 5 + 2 * a - 3 * b;
    }

private:
    Schema schema_;
};

TEST(Regression, LearnsALineInEveryPrecision) {
    for (const char* precision : {"fp32", "amp-fp16", "amp-bf16", "o2-fp16"}) {
        SCOPED_TRACE(precision);
        RunConfig config = test::small_run("mlp", precision);
        config.batch_size = 64;
        const DataPart data{std::make_shared<Linear2>()};
        Trainer trainer(config, default_device(), data.data->schema(), 100);
        const Schema& schema = trainer.task().schema(true);
        const auto feed = make_feed(default_device(), data, schema, test::loader_options(config));
        Collator collator(data, schema, test::loader_options(config));
        std::vector<Batch> batch(1);
        StepRecord first{}, last{};
        for (int i = 0; i < 60; ++i) {
            collator.make(batch[0], i / 4, i % 4);
            last = trainer.step(batch, *feed).row;
            if (i == 0) first = last;
        }
        EXPECT_TRUE(std::isnan(last.accuracy));
        EXPECT_LT(last.metric_1, 0.5F * first.metric_1) << "RMSE";
        EXPECT_GT(last.metric_2, 0.75F) << "R²";
        for (int i = 0; i < 4; ++i) {
            collator.make(batch[0], 0, i);
            trainer.evaluate(batch[0], *feed);
        }
        std::array<double, 2> values{};
        const MetricSums sums = trainer.take_evaluation();
        trainer.task().derive(sums, values);
        EXPECT_EQ(sums.weight, 256);
        EXPECT_GT(values[1], 0.75);
    }
}

}  // namespace
}  // namespace engine
