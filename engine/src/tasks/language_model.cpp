#include <cmath>

#include "ops/loss/cross_entropy.h"
#include "ops/shape/view.h"
#include "tasks/task_descriptor.h"

namespace engine {
namespace {

/// Predicts each token of a text from those before it, in windows of contiguous streams
/// (truncated back-propagation through time). A recurrent model's state goes on from window to
/// window; one without a state reads each window for itself.
class LanguageModel final : public DescribedTask {
public:
    explicit LanguageModel(const TaskSetup& setup)
        : DescribedTask(setup),
          tokens_(setup.data.index(setup.data.find(FieldKind::tokens)->name)),
          target_(setup.data.index(setup.data.find(FieldKind::label)->name)),
          steps_first_(model_descriptor(setup.config.model)->steps_first) {}

    ModelShape model_shape() const override {
        return {{field(tokens_)}, field(tokens_).cardinality};
    }

    TensorList losses(TaskStep& step) override {
        TensorList inputs{step.batch[tokens_]};
        inputs.insert(inputs.end(), step.state.begin(), step.state.end());
        TensorList outputs = step.forward(std::move(inputs));
        step.next_state.assign(outputs.begin() + 1, outputs.end());
        const Tensor wanted = in_rows(step.batch[target_]);
        const Tensor loss = cross_entropy(outputs.front(), wanted);
        if (!step.training()) step.predicted = outputs.front();
        add_loss(step, loss, wanted.numel());
        return {loss};
    }

    void derive(const MetricSums& sums, std::span<double> values) const override {
        values[0] = std::exp(sums.loss / sums.weight);
    }
    // As in PyTorch's example: few and long streams, because each starts without a state.
    std::int64_t evaluation_batch() const override { return 10; }

private:
    /// Targets (streams, window) in the order of the model's rows.
    Tensor in_rows(const Tensor& target) const {
        return flatten(steps_first_ ? contiguous(transpose(target, 0, 1)) : target);
    }

    std::size_t tokens_, target_;
    bool steps_first_;
};

bool fits_language_model(const Schema& data, const ModelDescriptor& model) {
    const FieldSpec* tokens = data.find(FieldKind::tokens);
    return tokens != nullptr && tokens->windowed && model.takes(FieldKind::tokens) &&
           model.output == ModelOutput::token_scores && data.find(FieldKind::label) != nullptr;
}

}  // namespace

TaskDescriptor language_model_descriptor() {
    return {.kind = "language-model",
            .title = "Language model",
            .summary = "Predicts the next word or character of a text.",
            .metrics = {{.key = "perplexity", .title = "Perplexity", .higher_is_better = false}},
            .fits = fits_language_model,
            .make = new_task<LanguageModel>};
}

}  // namespace engine
