#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "models/model.h"
#include "ops/index/sparse.h"
#include "tasks/task_descriptor.h"
#include "tensor/layout.h"
#include "train/step/run_context.h"
#include "train/step/train_step.h"

namespace engine::test {

/// A task whose carried state can be replaced before a step, and read after it.
class StateAccess final : public Task {
public:
    explicit StateAccess(std::unique_ptr<Task> task) : task_(std::move(task)) {}

    /// Sets the state that the next step reads, instead of the one that the previous step left.
    void replace(TensorList state) { given_ = std::move(state); }
    /// The state that the step after the last one will read. Copies on the host.
    TensorList state() const {
        TensorList out;
        for (const Tensor& buffer : buffers_) out.push_back(buffer.detach().copy_to(Device{}));
        return out;
    }

    const Schema& schema(bool training) const override { return task_->schema(training); }
    ModelShape model_shape() const override { return task_->model_shape(); }
    std::vector<std::vector<Parameter>> optimized(Model& model) const override {
        return task_->optimized(model);
    }
    std::vector<Phase> phases() const override { return task_->phases(); }
    /// step.state shares memory with the step's HiddenState, which carry() overwrites.
    TensorList losses(TaskStep& step) override {
        buffers_ = step.state;
        for (std::size_t i = 0; i < given_.size(); ++i) {
            const std::vector<double> values = given_[i].values();
            const std::vector<float> numbers(values.begin(), values.end());
            buffers_.at(i).copy_from_host(numbers.data());
        }
        given_.clear();
        return task_->losses(step);
    }
    void evaluate(TaskStep& step) override { task_->evaluate(step); }
    std::vector<Metric> metrics() const override { return task_->metrics(); }
    std::vector<std::string> optimizer_names() const override { return task_->optimizer_names(); }
    void derive(const MetricSums& sums, std::span<double> values) const override {
        task_->derive(sums, values);
    }

private:
    std::unique_ptr<Task> task_;
    TensorList given_, buffers_;
};

/// The results of a step, on the host.
struct StepResult {
    double loss = 0;
    TensorMap gradients;  ///< f32, unscaled
    TensorList state;     ///< in the form that the next step reads
    std::vector<double> metrics;
    bool found_inf = false;
    std::int64_t resets = 0;   ///< streams whose state was zeroed
    std::int64_t updates = 0;  ///< number of applied updates so far
};

/// Calls `take` before the update of each step.
class GradientTaker final : public StepObserver {
public:
    std::function<void()> take;
    void before_update(const StepView& step) override {
        if (step.phase + 1 == step.task.phases().size()) take();
    }
};

/// Model, task and TrainStep of a run, starting from given weights, one batch at a time.
class SingleSteps {
public:
    /// `data`: fields of the batches. `weights`: all parameters and buffers by name. Throws Error.
    SingleSteps(const RunConfig& config, const Schema& data, const TensorMap& weights,
                const Device& device = {})
        : config_(config), context_(config_, device), task_(make_task(config_, data)) {
        const RunContext::Entry entered(context_);
        model_ = make_model(config_.model, task_.model_shape(), std::nullopt, device);
        load_state(*model_, weights);
        step_ = std::make_unique<TrainStep>(config_, task_, *model_, device, /*planned=*/1);
        step_->observers().attach(gradients_);
    }

    /// `state`: the state that the step reads; empty: the one that the previous step left.
    StepResult step(const DeviceBatch& batch, TensorList state = {}) {
        const RunContext::Entry entered(context_);
        task_.replace(std::move(state));
        StepResult result;
        gradients_->take = [&] { result.gradients = unscaled_gradients(); };
        step_->observers().announce(++computed_);
        step_->compute(1, {[&](std::size_t) { return batch; }, [](const DeviceBatch&) {}}, nullptr);
        const auto figures = step_->figures().host();
        result.loss = figures.sums.loss / figures.sums.weight;
        result.metrics.resize(task_.metrics().size());
        task_.derive(figures.sums, result.metrics);
        result.state = task_.state();
        result.found_inf = figures.gradient_statistics.found_inf != 0;
        result.resets = figures.state_resets;
        result.updates = figures.updates;
        return result;
    }

    TensorMap weights() const { return saved_state(*model_); }

private:
    TensorMap unscaled_gradients() const {
        const Tensor scale = step_->precision().loss_scale();
        const double factor = scale.defined() ? 1 / scale.item() : 1;
        TensorMap out;
        for (const Parameter& parameter : model_->parameters()) {
            if (!parameter.tensor.grad().defined()) continue;
            const Tensor grad = to_dense(parameter.tensor.grad());
            std::vector<double> values = grad.values();
            for (double& value : values) value *= factor;
            out["grad." + parameter.name] = Tensor::of(values, grad.shape(), DType::f32, Device{});
        }
        return out;
    }

    RunConfig config_;
    RunContext context_;
    StateAccess task_;
    std::unique_ptr<Model> model_;
    std::unique_ptr<TrainStep> step_;
    std::shared_ptr<GradientTaker> gradients_ = std::make_shared<GradientTaker>();
    std::int64_t computed_ = 0;
};

}  // namespace engine::test
