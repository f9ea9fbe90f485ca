#include <cmath>
#include <limits>

#include "ops/loss/loss.h"
#include "ops/shape/view.h"
#include "tasks/task_descriptor.h"

namespace engine {
namespace {

/// A number for each sample. The loss is the mean squared error of the standardised target; the
/// metrics are in the target's own units.
class Regression final : public DescribedTask {
public:
    explicit Regression(const TaskSetup& setup)
        : DescribedTask(setup),
          input_(setup.data.index(
              input_of(setup.data, *model_descriptor(setup.config.model))->name)),
          target_(setup.data.index(setup.data.find(FieldKind::value)->name)),
          unit_(target().normalization.empty()
                    ? 1
                    : static_cast<double>(target().normalization.deviation.front())) {}

    ModelShape model_shape() const override { return {{field(input_)}, target().shape.numel()}; }

    TensorList losses(TaskStep& step) override {
        const Tensor& wanted = step.batch[target_];
        const Tensor predicted = step.forward(step.batch[input_]);
        const Tensor loss = mse_loss(predicted, wanted);
        if (!step.training()) step.predicted = predicted;
        add_loss(step, loss, step.batch.rows);
        add_squares(step, 0, predicted, wanted);
        return {loss};
    }

    std::vector<Metric> metrics() const override {
        std::vector<Metric> list = metrics_;
        if (!target().names.empty()) list.front().unit = target().names.front();
        return list;
    }
    void derive(const MetricSums& sums, std::span<double> values) const override {
        const double count = sums.weight;
        const double spread = sums.values[2] - sums.values[1] * sums.values[1] / count;
        values[0] = unit_ * std::sqrt(sums.values[0] / count);
        values[1] =
            spread > 0 ? 1 - sums.values[0] / spread : std::numeric_limits<double>::quiet_NaN();
    }

private:
    const FieldSpec& target() const { return field(target_); }

    std::size_t input_, target_;
    double unit_;  // of the target, for each unit of the standardised one
};

bool fits_regression(const Schema& data, const ModelDescriptor& model) {
    const FieldSpec* value = data.find(FieldKind::value);
    return value != nullptr && value->shape.numel() == 1 && input_of(data, model) != nullptr &&
           model.output == ModelOutput::scores;
}

}  // namespace

TaskDescriptor regression_descriptor() {
    return {.kind = "regression",
            .title = "Regression",
            .summary = "Predicts a number for each sample.",
            .metrics = {{.key = "rmse", .title = "RMSE", .higher_is_better = false},
                        {.key = "r2", .title = "R²"}},
            .fits = fits_regression,
            .make = new_task<Regression>};
}

}  // namespace engine
