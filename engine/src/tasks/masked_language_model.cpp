#include <cmath>

#include "ops/index/gather.h"
#include "ops/loss/cross_entropy.h"
#include "ops/shape/view.h"
#include "tasks/task_descriptor.h"
#include "tasks/word_masking.h"

namespace engine {
namespace {

constexpr const char* places_name = "masked";

/// Predicts the masked tokens in windows of a text. A vocabulary without a token for a masked word
/// gets one, [MASK], behind its others.
/// Only masked tokens are scored. Their number follows from the length of a window, so the loss is
/// a mean over a number known from the shapes, and nothing is counted on the device.
class MaskedLanguageModel final : public DescribedTask {
public:
    explicit MaskedLanguageModel(const TaskSetup& setup)
        : DescribedTask(setup),
          tokens_(setup.data.index(setup.data.find(FieldKind::tokens)->name)),
          target_(setup.data.index(setup.data.find(FieldKind::label)->name)),
          words_(setup.data.fields[tokens_].cardinality),
          own_mask_(setup.data.fields[tokens_].mask_token) {
        add_masks(schemas_.training, true);
        add_masks(schemas_.evaluation, false);
    }

    ModelShape model_shape() const override {
        return {{field(tokens_)}, field(tokens_).cardinality};
    }

    TensorList losses(TaskStep& step) override {
        const Tensor& original = step.batch[target_];
        const Tensor places = narrow(step.batch[places_], 1, 0, masked_count(original.size(1)));
        const Tensor logits = step.forward(TensorList{step.batch[tokens_], places}).front();
        const Tensor wanted = flatten(gather(original, 1, places));
        const Tensor loss = cross_entropy(logits, wanted);
        if (!step.training()) step.predicted = logits;
        add_loss(step, loss, wanted.numel());
        count_correct(step, 0, logits, wanted);
        return {loss};
    }

    /// Masked tokens, which a shorter window has fewer of.
    std::int64_t loss_terms(std::int64_t rows, std::int64_t samples) const override {
        return rows * masked_count(samples / rows);
    }

    void derive(const MetricSums& sums, std::span<double> values) const override {
        values[0] = std::exp(sums.loss / sums.weight);
        values[1] = sums.values[0] / sums.weight;
    }
    std::vector<std::string> added_tokens() const override {
        if (own_mask_ >= 0) return {};
        return {"[MASK]"};
    }
    std::int64_t evaluation_batch() const override { return 16; }

private:
    void add_masks(Schema& schema, bool training) {
        places_ = schema.add({.name = places_name,
                              .kind = FieldKind::other,
                              .dtype = DType::i64,
                              .shape = {schema.fields[tokens_].shape[0]},
                              .windowed = true});
        FieldSpec& tokens = schema.fields[tokens_];
        if (own_mask_ < 0) tokens.cardinality = words_ + 1;
        tokens.transforms.push_back(
            std::make_shared<WordMasking>(WordMasking::Fields{target_, places_},
                                          own_mask_ < 0 ? words_ : own_mask_, words_, training));
    }

    std::size_t tokens_, target_, places_ = 0;
    std::int64_t words_;     ///< of the vocabulary
    std::int64_t own_mask_;  ///< FieldSpec::mask_token
};

bool fits_masked_language_model(const Schema& data, const ModelDescriptor& model) {
    const FieldSpec* tokens = data.find(FieldKind::tokens);
    return tokens != nullptr && tokens->windowed && model.takes(FieldKind::tokens) &&
           model.output == ModelOutput::masked_token_scores &&
           data.find(FieldKind::label) != nullptr;
}

}  // namespace

TaskDescriptor masked_language_model_descriptor() {
    return {.kind = "masked-language-model",
            .title = "Masked language model",
            .summary = "Finds words or characters that are masked in a text.",
            .metrics = {{.key = "perplexity", .title = "Perplexity", .higher_is_better = false},
                        {.key = "masked_accuracy", .title = "Masked accuracy", .is_share = true}},
            .fits = fits_masked_language_model,
            .make = new_task<MaskedLanguageModel>};
}

}  // namespace engine
