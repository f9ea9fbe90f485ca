#include "kernels/scores.h"
#include "ops/loss/loss.h"
#include "ops/pointwise/activation.h"
#include "ops/shape/view.h"
#include "tasks/task_descriptor.h"
#include "tensor/cast.h"
#include "tensor/layout.h"

namespace engine {
namespace {

using kernels::ScoreBins;

/// Whether a sample is clicked, from its numbers and ids: binary cross entropy of a logit. The
/// metric is the AUC from a histogram of the logits. In an evaluation it covers all pairs of a
/// part; in training the pairs within each batch, since the weights change from batch to batch.
class ClickPrediction final : public DescribedTask {
public:
    explicit ClickPrediction(const TaskSetup& setup)
        : DescribedTask(setup),
          numbers_(setup.data.index(setup.data.find(FieldKind::features)->name)),
          ids_(setup.data.index(setup.data.find(FieldKind::indices)->name)),
          label_(setup.data.index(setup.data.find(FieldKind::label)->name)),
          loss_(setup.config.teach.loss == TeachLoss::bce_probabilities ? of_probabilities
                                                                        : of_logits) {}

    ModelShape model_shape() const override { return {{field(numbers_), field(ids_)}, 1}; }

    TensorList losses(TaskStep& step) override {
        const Tensor& labels = step.batch[label_];
        const Tensor logits =
            step.forward(TensorList{step.batch[numbers_], step.batch[ids_]}).front();
        const Tensor clicked = reshape(to(labels, logits.dtype()), logits.shape());
        const Tensor loss = loss_(logits, clicked);
        if (!step.training()) step.predicted = two_scores(logits);
        add_loss(step, loss, step.batch.rows);
        count(step, logits, labels);
        return {loss};
    }

    void derive(const MetricSums& sums, std::span<double> values) const override {
        values[0] = sums.values[0] / sums.values[1];  // NaN with one class alone
        values[1] = sums.values[2] / sums.weight;
    }
    std::int64_t pass_counts() const override { return ScoreBins::size; }
    void end_pass(const Tensor& counts, MetricSums* sums) const override {
        on(counts.device(), kernels::cpu::add_score_pairs, kernels::cuda::add_score_pairs)(
            sums->values, counts.data_as<const std::int64_t>(), current_stream());
    }
    std::int64_t evaluation_batch() const override { return 4096; }

private:
    static Tensor of_logits(const Tensor& logits, const Tensor& clicked) {
        return binary_cross_entropy_with_logits(logits, clicked);
    }
    /// Broken on purpose (teach.loss).
    static Tensor of_probabilities(const Tensor& logits, const Tensor& clicked) {
        return binary_cross_entropy(sigmoid(logits), clicked);
    }
    /// Scores of two classes with the probabilities that the logits stand for.
    static Tensor two_scores(const Tensor& logits) {
        return cat({Tensor::zeros(logits.shape(), logits.dtype(), logits.device()), logits}, 1);
    }
    void count(const TaskStep& step, const Tensor& logits, const Tensor& labels) const {
        const Tensor scores = in_layout(logits.detach(), Layout::contiguous);
        const bool whole = step.pass_counts.defined();
        const Tensor counts = whole ? step.pass_counts
                                    : Tensor::zeros({ScoreBins::size}, DType::i64, logits.device());
        on(scores.device(), kernels::cpu::count_scores, kernels::cuda::count_scores)(
            counts.data_as<std::int64_t>(), scores.array(), labels.array(), current_stream());
        if (!whole) end_pass(counts, step.sums);
    }

    std::size_t numbers_, ids_, label_;
    Tensor (*loss_)(const Tensor& logits, const Tensor& clicked);
};

bool fits_click_prediction(const Schema& data, const ModelDescriptor& model) {
    const FieldSpec* label = data.find(FieldKind::label);
    return label != nullptr && label->shape.rank() == 0 && label->cardinality == 2 &&
           data.find(FieldKind::features) != nullptr && data.find(FieldKind::indices) != nullptr &&
           model.output == ModelOutput::click_scores;
}

}  // namespace

TaskDescriptor click_prediction_descriptor() {
    return {.kind = "click-prediction",
            .title = "Click prediction",
            .summary = "Predicts how likely a click is from numbers and ids.",
            .metrics = {{.key = "auc", .title = "AUC"},
                        {.key = "accuracy", .title = "Accuracy", .is_share = true}},
            .predicts_classes = true,
            .broken_losses = {TeachLoss::bce_probabilities},
            .fits = fits_click_prediction,
            .make = new_task<ClickPrediction>};
}

}  // namespace engine
