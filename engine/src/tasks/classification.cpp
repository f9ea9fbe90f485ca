#include "tasks/broken_loss.h"
#include "tasks/task_descriptor.h"

namespace engine {
namespace {

/// One class for each sample: cross entropy, and the share of samples that are right.
class Classification final : public Task {
public:
    explicit Classification(const TaskSetup& setup)
        : schemas_(setup),
          input_(setup.data.index(
              input_of(setup.data, model_descriptor(setup.config.model.kind))->name)),
          label_(setup.data.index(setup.data.find(FieldKind::label)->name)),
          loss_(setup.config.teach.loss) {}

    const Schema& schema(bool training) const override {
        return training ? schemas_.training : schemas_.evaluation;
    }
    ModelShape model_shape() const override {
        const auto& fields = schemas_.evaluation.fields;
        return {{fields[input_]}, fields[label_].cardinality};
    }

    bool gives_to_model_alone(std::size_t field) const override { return field == input_; }

    TensorList losses(TaskStep& step) override {
        const Tensor& labels = step.batch[label_];
        const Tensor logits = step.forward(step.batch[input_]);
        const Tensor loss = class_loss(logits, labels, loss_);
        if (!step.training()) step.predicted = logits;
        add_loss(step, loss, step.batch.rows);
        count_correct(step, 0, logits, labels);
        return {loss};
    }

    std::vector<Metric> metrics() const override;
    void derive(const MetricSums& sums, std::span<double> values) const override {
        values[0] = sums.values[0] / sums.weight;
    }

private:
    TaskSchemas schemas_;
    std::size_t input_, label_;
    TeachLoss loss_;
};

const std::vector<Metric>& metric_list() {
    static const std::vector<Metric> metrics = {
        {.key = "accuracy", .title = "Accuracy", .is_share = true}};
    return metrics;
}

std::vector<Metric> Classification::metrics() const { return metric_list(); }

bool fits_classification(const Schema& data, const ModelDescriptor& model) {
    const FieldSpec* label = data.find(FieldKind::label);
    return label != nullptr && label->shape.rank() == 0 && input_of(data, model) != nullptr &&
           model.output == ModelOutput::scores;
}

}  // namespace

TaskDescriptor classification_descriptor() {
    return {.kind = "classification",
            .title = "Classification",
            .summary = "Finds the class of each sample.",
            .metrics = metric_list(),
            .predicts_classes = true,
            .broken_losses = {TeachLoss::bce_probabilities, TeachLoss::where_mismatch},
            .fits = fits_classification,
            .make = new_task<Classification>};
}

}  // namespace engine
