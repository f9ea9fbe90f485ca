#include "tasks/broken_loss.h"
#include "tasks/task_descriptor.h"

namespace engine {
namespace {

/// One class for each sample: cross entropy, and the share of samples that are right.
class Classification final : public DescribedTask {
public:
    explicit Classification(const TaskSetup& setup)
        : DescribedTask(setup),
          input_(setup.data.index(
              input_of(setup.data, *model_descriptor(setup.config.model))->name)),
          label_(setup.data.index(setup.data.find(FieldKind::label)->name)),
          loss_(class_loss(setup.config.teach.loss)) {}

    ModelShape model_shape() const override { return {{field(input_)}, field(label_).cardinality}; }

    bool gives_to_model_alone(std::size_t field) const override { return field == input_; }

    TensorList losses(TaskStep& step) override {
        const Tensor& labels = step.batch[label_];
        const Tensor logits = step.forward(step.batch[input_]);
        const Tensor loss = loss_(logits, labels);
        if (!step.training()) step.predicted = logits;
        add_loss(step, loss, step.batch.rows);
        count_correct(step, 0, logits, labels);
        return {loss};
    }

    void derive(const MetricSums& sums, std::span<double> values) const override {
        values[0] = sums.values[0] / sums.weight;
    }

private:
    std::size_t input_, label_;
    ClassLoss loss_;
};

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
            .metrics = {{.key = "accuracy", .title = "Accuracy", .is_share = true}},
            .predicts_classes = true,
            .broken_losses = {TeachLoss::bce_probabilities, TeachLoss::where_mismatch},
            .fits = fits_classification,
            .make = new_task<Classification>};
}

}  // namespace engine
