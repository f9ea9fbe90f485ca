#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/loader/batch.h"
#include "engine/base/metric.h"
#include "engine/data/detection_report.h"
#include "engine/settings/run_config.h"
#include "kernels/step_figures.h"
#include "models/model.h"
#include "tensor/device_record.h"
#include "tensor/parameter.h"

namespace engine {

using kernels::MetricSums;

/// A stage of a step: it computes losses, and then steps some of the optimizers.
struct Phase {
    std::string name;
    std::vector<std::size_t> optimizers;  ///< indices into Task::optimized()
    bool keep_graph = false;  ///< a later phase differentiates through what this one recorded
};

/// The means of a task's computation: one micro-batch in one phase of a step, or in an evaluation.
/// Made by the trainer.
class TaskStep {
public:
    /// How the precision settings surround the model (optimizers.md#opt-levels, 4.1): floating
    /// inputs are cast to the type of 16-bit weights, and outputs to f32 if there are master
    /// weights.
    struct Casts {
        std::optional<DType> inputs{};
        bool outputs_to_f32 = false;
        /// Changes what a model returns: a fault that is planted on purpose. Null: none.
        const std::function<void(TensorList&)>* planted = nullptr;
    };

    TaskStep(Model& model, const DeviceBatch& batch_, const Casts& casts, MetricSums* sums_)
        : batch(batch_), sums(sums_), model_(model), casts_(casts) {}

    const DeviceBatch& batch;
    MetricSums* sums;  ///< on the device: the task adds to them
    std::size_t phase = 0;
    TensorList passed;      ///< tensors that earlier phases of this micro-batch left for later ones
    TensorList state;       ///< carried state that comes in; empty: the model has none
    TensorList next_state;  ///< that goes out; the task fills it
    /// Choices of the task that depend on computed values, such as the regions that are compared.
    /// The task takes the choices that it is given; given none, it chooses and puts them here.
    TensorList decisions;
    /// In an evaluation Task::pass_counts() integers, i64, which persist from its first batch to
    /// its last; undefined in training.
    Tensor pass_counts;
    /// In evaluation, the output that answers are read from: (rows, classes), (rows, targets), or
    /// (tokens, words) as the model orders them. The task fills it.
    Tensor predicted;
    bool training() const { return model_.training; }
    Model& model() const { return model_; }

    /// The model's outputs, with the casts of the settings' precision around it.
    TensorList forward(TensorList inputs) const;
    /// The first output for one input.
    Tensor forward(const Tensor& input) const { return forward(TensorList{input}).front(); }
    /// Puts the casts around another computation, for models of several networks.
    template <typename F>
    TensorList with_casts(TensorList inputs, F&& f) const {
        cast_inputs(inputs);
        TensorList outputs = f(inputs);
        cast_outputs(outputs);
        if (casts_.planted) (*casts_.planted)(outputs);
        return outputs;
    }

private:
    void cast_inputs(TensorList& inputs) const;
    void cast_outputs(TensorList& outputs) const;

    Model& model_;
    Casts casts_;
};

/// Pictures that show how far a model is: bands of the same number of images (N, C, H, W), drawn
/// row by row, each row of a band under that of the band before.
struct PictureBands {
    TensorList bands;  ///< empty: there are none
    double black = 0;  ///< the value of a black pixel
    double white = 1;
};

/// Results of a pass over a part that no sums hold, such as single detections. On the host; one
/// thread at a time.
class PassResults {
public:
    virtual ~PassResults() = default;
    /// A batch was evaluated: `predicted` is its TaskStep::predicted, f32, on the host. Throws Error.
    virtual void see(const Batch& batch, const Tensor& predicted) = 0;
    /// Bytes of all that was seen, for merge() on another rank.
    virtual std::vector<std::byte> packed() const = 0;
    /// Adds what another rank has seen. Throws Error(data) for bytes that packed() did not make.
    virtual void merge(std::span<const std::byte> part) = 0;
    /// Fills those of the task's metrics that follow from all that was seen.
    virtual void derive(std::span<double> values) = 0;
    /// The report on all that was seen; nothing where there are no detections.
    virtual std::optional<DetectionReport> detections() { return std::nullopt; }
    /// Writes what see() gets from now on to files that begin with this name. Throws Error(io).
    virtual void write_to(const std::filesystem::path& name) = 0;
    /// Completes those files, if there are any. Returns them. Throws Error(io).
    virtual std::vector<std::filesystem::path> commit() = 0;
};

/// Defines what a batch means: joins a data set and a model (decisions.md#task, D15). The only
/// place that knows which fields a batch has, which losses follow from them and how good a result
/// is. It owns no tensors of a step and keeps nothing from one step to the next.
class Task {
public:
    virtual ~Task() = default;

    /// Fields of a batch: the data set's with its transforms, and what the task adds.
    virtual const Schema& schema(bool training) const = 0;
    /// Shape of the data that the model is built for.
    virtual ModelShape model_shape() const = 0;

    /// Parameters by optimizer: all for the one, unless the task has several.
    virtual std::vector<std::vector<Parameter>> optimized(Model& model) const;
    /// One phase that steps the one optimizer, unless the task has several.
    virtual std::vector<Phase> phases() const;
    /// Losses of a phase on one micro-batch, 0-d each, unscaled, and the task's sums of it. Each is
    /// scaled and differentiated. Runs within the autocast region of the settings.
    virtual TensorList losses(TaskStep& step) = 0;
    /// How many terms those losses are means of on a whole batch of `rows` rows with `samples`
    /// images, rows or tokens, up to a common factor: batches of a step count by them.
    virtual std::int64_t loss_terms(std::int64_t rows, std::int64_t samples) const {
        (void)rows;
        return samples;
    }
    /// The sums of a batch in evaluation: by default those of the first phase.
    virtual void evaluate(TaskStep& step) { losses(step); }

    /// The first one is the primary metric; none: the loss takes its place.
    virtual std::vector<Metric> metrics() const { return {}; }
    /// Metrics of a training step: those, and the updates of the optimizers after the first.
    std::vector<Metric> step_metrics() const;
    /// Names of the optimizers, in the order of optimized().
    virtual std::vector<std::string> optimizer_names() const { return {""}; }
    /// Their values from the sums of one step, one epoch or one evaluation.
    virtual void derive(const MetricSums& sums, std::span<double> values) const;
    /// Pictures of the first batch of an evaluation, after it was evaluated, to be kept in the
    /// run's folder.
    virtual PictureBands pictures(const TaskStep& step) const {
        (void)step;
        return {};
    }
    /// For a pass over this part in evaluation; null: the sums are all.
    virtual std::unique_ptr<PassResults> results(const DataPart& part) const {
        (void)part;
        return nullptr;
    }
    /// Whether a step makes decisions (TaskStep::decisions).
    virtual bool decides() const { return false; }
    /// Whether one evaluation can be better than another. If not, a run has no best checkpoint, and
    /// its settings may ask neither for the plateau schedule nor for early stopping.
    virtual bool has_best() const { return true; }
    /// Tokens behind those of the text's vocabulary that the task adds to it.
    virtual std::vector<std::string> added_tokens() const { return {}; }
    /// How many integers, such as the bins of a histogram, it counts over all batches of an
    /// evaluation before metrics can be derived.
    virtual std::int64_t pass_counts() const { return 0; }
    /// Brings what was counted to the sums, on the device.
    virtual void end_pass(const Tensor& counts, MetricSums* sums) const;
    /// Rows of a batch in evaluation where the settings leave it to the task.
    virtual std::int64_t evaluation_batch() const { return 256; }
    /// Whether nothing but the model reads this field of a batch.
    virtual bool gives_to_model_alone(std::size_t field) const {
        (void)field;
        return false;
    }
};

/// sums += a mean loss over `weight` samples.
void add_loss(TaskStep& step, const Tensor& loss, std::int64_t weight);
/// sums.values[at] += a mean over `weight` samples, times that.
void add_mean(TaskStep& step, int at, const Tensor& mean, std::int64_t weight);
/// sums.values[at] += the rows of logits (rows, classes) whose largest is that of their label.
void count_correct(TaskStep& step, int at, const Tensor& logits, const Tensor& labels);
/// sums.values[at ... at + 2] += those of kernels::AddSquares.
void add_squares(TaskStep& step, int at, const Tensor& prediction, const Tensor& target);

}  // namespace engine
