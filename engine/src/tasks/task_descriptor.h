#pragma once

#include <memory>

#include "models/model_descriptor.h"
#include "tasks/task.h"

namespace engine {

/// Arguments from which a task is made.
struct TaskSetup {
    const RunConfig& config;
    const Schema& data;                  ///< of the data set, without transforms
    const std::vector<Metric>& metrics;  ///< TaskDescriptor::metrics_of()
};

/// TaskDescriptor::make of the class Kind.
template <typename Kind>
std::unique_ptr<Task> new_task(const TaskSetup& setup) {
    return std::make_unique<Kind>(setup);
}

/// The task that the settings name, or for `auto` the first that fits. Throws Error(settings) if
/// none does.
const TaskDescriptor& task_of(const RunConfig& config, const Schema& data);
/// The first input field that the model takes; null: there is none.
const FieldSpec* input_of(const Schema& data, const ModelDescriptor& model);
/// task_of() made, for a data set of these fields.
std::unique_ptr<Task> make_task(const RunConfig& config, const Schema& data);

/// A schema as it is and as training changes it, both with the settings' transforms.
struct TaskSchemas {
    TaskSchemas(const TaskSetup& setup);  // NOLINT(google-explicit-constructor)
    Schema training, evaluation;
};

/// A task with the metrics of its descriptor.
class DescribedTask : public Task {
public:
    const Schema& schema(bool training) const override {
        return training ? schemas_.training : schemas_.evaluation;
    }
    std::vector<Metric> metrics() const override { return metrics_; }

protected:
    explicit DescribedTask(const TaskSetup& setup) : DescribedTask(setup, setup) {}
    DescribedTask(const TaskSetup& setup, TaskSchemas schemas)
        : schemas_(std::move(schemas)), metrics_(setup.metrics) {}

    /// A field as it is in an evaluation.
    const FieldSpec& field(std::size_t index) const { return schemas_.evaluation.fields[index]; }

    TaskSchemas schemas_;
    std::vector<Metric> metrics_;
};

/// The range that pixels are brought to.
struct PixelRange {
    float black = 0;
    float white = 1;
};
inline constexpr PixelRange pixels_from_zero{0, 1};
inline constexpr PixelRange pixels_around_zero{-1, 1};

/// The schemas of a task whose model draws images: pixels in this range, regardless of the
/// normalisation in the settings, which the output of a sigmoid or tanh cannot follow.
TaskSchemas image_schemas(const TaskSetup& setup, PixelRange range);

}  // namespace engine
