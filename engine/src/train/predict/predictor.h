#pragma once

#include "data/input_guide.h"
#include "train/run/saved_run.h"
#include "train/step/evaluator.h"
#include "train/step/run_context.h"

namespace engine {

/// A sample that was made by hand, or the same one several times: the bytes of each field. For a
/// text it is one window, of one token unless another length is given.
class MadeSample final : public Dataset {
public:
    explicit MadeSample(const Schema& schema, std::int64_t size = 1);

    /// A stream's last token has no next one, so a window needs one more.
    std::int64_t size() const override { return is_stream() ? window_ + 1 : size_; }
    const Schema& schema() const override { return schema_; }
    bool is_stream() const override { return window_ > 0; }
    /// Gives the fields of a text this many tokens; those of other data stay as they are.
    void set_window(std::int64_t tokens);
    void read(std::int64_t index, const SampleFields& out) const override;

    std::vector<float>& f32(std::string_view field);
    std::vector<std::int64_t>& i64(std::string_view field);

private:
    Schema schema_;
    std::int64_t size_;
    std::vector<std::vector<float>> f32_;  // by field
    std::vector<std::vector<std::int64_t>> i64_;
    std::int64_t window_ = 0;  // 0: no text
};

/// Task, model and precision of a run at a checkpoint, without what training takes.
class Predictor {
public:
    /// Throws Error.
    Predictor(const SavedRun& saved, const Schema& data, const Device& device);

    Task& task() { return *task_; }
    Model& model() { return *model_; }
    const Device& device() const { return context_.device(); }
    /// A pass begins: carried state is zeroed, and the sums.
    void begin();
    /// The task's prediction for a batch, on the host, in f32.
    Tensor predict(const Batch& batch, BatchFeed& feed);
    /// The task's prediction for one sample or window, or of several samples at once; the state is
    /// carried on from the one before. `seed`: of what the task draws.
    Tensor predict(const std::shared_ptr<const Dataset>& sample, std::int64_t seed = 1);
    /// Pictures that the model drew of the first samples since begin().
    PictureBands take_pictures() { return evaluator_->take_pictures(); }
    MetricSums take() { return evaluator_->take(); }
    RunContext& context() { return context_; }

private:
    RunContext context_;
    std::unique_ptr<Task> task_;
    std::unique_ptr<Model> model_;
    std::unique_ptr<MixedPrecision> precision_;
    std::unique_ptr<Evaluator> evaluator_;
};

/// Softmax of a row of scores. An infinite score takes all of the probability, several share it
/// equally: it is the limit of ever larger ones. NaN among the scores: all are NaN.
std::vector<double> to_probabilities(const std::vector<double>& scores);
/// Predicted numbers, standardised as the field says, in their original units.
void in_original_units(const FieldSpec& field, std::vector<double>& values);

}  // namespace engine
