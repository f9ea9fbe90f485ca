#include "tasks/task.h"

#include "tensor/cast.h"
#include "tensor/layout.h"

namespace engine {

void TaskStep::cast_inputs(TensorList& inputs) const {
    if (!casts_.inputs) return;
    for (Tensor& input : inputs) {
        if (is_floating(input.dtype())) input = to(input, *casts_.inputs);
    }
}

void TaskStep::cast_outputs(TensorList& outputs) const {
    if (!casts_.outputs_to_f32) return;
    for (Tensor& output : outputs) output = to(output, DType::f32);
}

TensorList TaskStep::forward(TensorList inputs) const {
    return with_casts(std::move(inputs),
                      [this](const TensorList& in) { return model_.forward(in); });
}

std::vector<std::vector<Parameter>> Task::optimized(Model& model) const {
    return {model.parameters()};
}

std::vector<Metric> Task::step_metrics() const {
    std::vector<Metric> list = metrics();
    const std::vector<std::string> names = optimizer_names();
    for (std::size_t i = 1; i < names.size(); ++i)
        list.push_back({.key = "updates_" + names[i], .title = "Updates: " + names[i]});
    return list;
}

std::vector<Phase> Task::phases() const { return {{"", {0}}}; }

void Task::derive(const MetricSums&, std::span<double>) const {}

void Task::end_pass(const Tensor&, MetricSums*) const {}

void add_loss(TaskStep& step, const Tensor& loss, std::int64_t weight) {
    on(loss.device(), kernels::cpu::add_loss, kernels::cuda::add_loss)(
        step.sums, loss.array(), static_cast<double>(weight), current_stream());
}

void add_mean(TaskStep& step, int at, const Tensor& mean, std::int64_t weight) {
    on(mean.device(), kernels::cpu::add_weighted, kernels::cuda::add_weighted)(
        step.sums->values + at, mean.array(), static_cast<double>(weight), current_stream());
}

void count_correct(TaskStep& step, int at, const Tensor& logits, const Tensor& labels) {
    const Tensor rows = in_layout(logits, Layout::contiguous);
    on(rows.device(), kernels::cpu::count_correct, kernels::cuda::count_correct)(
        step.sums->values + at, rows.array(), labels.array(), rows.size(0), rows.size(1),
        current_stream());
}

void add_squares(TaskStep& step, int at, const Tensor& prediction, const Tensor& target) {
    const Tensor predicted = in_layout(prediction.detach(), Layout::contiguous);
    on(predicted.device(), kernels::cpu::add_squares, kernels::cuda::add_squares)(
        step.sums->values + at, predicted.array(), target.array(), current_stream());
}

}  // namespace engine
