
#include "data/dataset_descriptor.h"
#include "engine/base/error.h"
#include "engine/data/dataset_preview.h"
#include "engine/settings/catalog.h"
#include "models/network_model.h"
#include "tasks/task_descriptor.h"

namespace engine {

#define HALFTONE_TASK(name) TaskDescriptor name##_descriptor();
#include "tasks/descriptors.inc"
#undef HALFTONE_TASK

std::span<const TaskDescriptor> tasks() {
    static const std::vector<TaskDescriptor> list = {
#define HALFTONE_TASK(name) name##_descriptor(),
#include "tasks/descriptors.inc"
#undef HALFTONE_TASK
    };
    return list;
}

const TaskDescriptor& task_of(const RunConfig& config, const Schema& data) {
    const std::shared_ptr<const ModelDescriptor> model = model_descriptor(config.model);
    const auto all = tasks();
    const bool choose = config.task.kind == "auto";
    const auto found = std::find_if(all.begin(), all.end(), [&](const TaskDescriptor& task) {
        return (choose || task.kind == config.task.kind) && task.fits(data, *model);
    });
    if (found != all.end()) return *found;
    if (choose)
        throw Error(ErrorCode::settings,
                    msg("model.kind: {}: there is nothing that it could learn from the data set {}",
                        model_name(config.model), config.dataset.kind));
    throw Error(ErrorCode::settings, msg("task.kind: {}: {} cannot learn it from the data set {}",
                                         config.task.kind, model_name(config.model), config.dataset.kind));
}

const FieldSpec* input_of(const Schema& data, const ModelDescriptor& model) {
    const auto found =
        std::find_if(data.fields.begin(), data.fields.end(),
                     [&](const FieldSpec& field) { return model.takes(field.kind); });
    return found == data.fields.end() ? nullptr : &*found;
}

namespace {

void check_loss(const RunConfig& config, const TaskDescriptor& task) {
    const TeachLoss loss = config.teach.loss;
    if (loss != TeachLoss::intact && std::ranges::count(task.broken_losses, loss) == 0)
        throw Error(ErrorCode::settings,
                    msg("teach.loss: {}: the task {} has no such loss", word_of(loss), task.kind));
}

void check_boxes(const RunConfig& config) {
    if (config.teach.boxes != TeachBoxes::intact &&
        model_descriptor(config.model)->output != ModelOutput::detections)
        throw Error(ErrorCode::settings,
                    msg("teach.boxes: {}: use it with a detector: {} finds no boxes",
                        word_of(config.teach.boxes), config.model.kind));
}

}  // namespace

std::unique_ptr<Task> make_task(const RunConfig& config, const Schema& data) {
    Schema sized = data;
    for (FieldSpec& field : sized.fields) {
        if (field.windowed) field.shape[0] = config.bptt;
    }
    const TaskDescriptor& task = task_of(config, sized);
    check_loss(config, task);
    check_boxes(config);
    return task.make({config, sized, task.metrics_of(config)});
}

TaskSchemas::TaskSchemas(const TaskSetup& setup)
    : training(with_transforms(setup.data, setup.config.dataset, true)),
      evaluation(with_transforms(setup.data, setup.config.dataset, false)) {}

TaskSchemas image_schemas(const TaskSetup& setup, PixelRange range) {
    RunConfig config = setup.config;
    Schema data = setup.data;
    config.dataset.normalize = range.black != 0 || range.white != 1;
    // (value - mean) / deviation is black at 0 and white at 1.
    const float deviation = 1 / (range.white - range.black);
    const auto channels = static_cast<std::size_t>(data.find(FieldKind::image)->shape[0]);
    data.fields[data.index(data.find(FieldKind::image)->name)].normalization = {
        .mean = std::vector<float>(channels, -range.black * deviation),
        .deviation = std::vector<float>(channels, deviation)};
    return TaskSchemas({config, data, setup.metrics});
}

namespace {

/// Empty for settings that do not fit together.
std::vector<Metric> metrics_of(const RunConfig& config, const Schema& data) {
    try {
        return task_of(config, data).metrics_of(config);
    } catch (const Error&) {
        return {};
    }
}

}  // namespace

std::vector<Metric> metrics_of(const RunConfig& config) {
    const DatasetDescriptor* data = find_dataset(config.dataset.kind);
    return data == nullptr ? std::vector<Metric>()
                           : metrics_of(config, data->schema(config.dataset));
}

std::vector<Metric> metrics_of(const RunConfig& config, const DatasetPreview& preview) {
    return preview.schema ? metrics_of(config, *preview.schema) : metrics_of(config);
}

namespace {

std::int64_t parameter_count(const RunConfig& config, const Schema& data) {
    return count_parameters(config.model, make_task(config, data)->model_shape());
}

NetworkData network_data(const RunConfig& config, const Schema& data) {
    NetworkData out = network_data(make_task(config, data)->model_shape(), config.model.options);
    out.stages = model_descriptor(config.model)->output == ModelOutput::detections;
    // A text has none of the options of the kind, which are the detector's.
    if (const ModelDescriptor* kind = find_kind(models(), config.model.kind))
        for (const OptionSpec& option : kind->options) out.options.erase(option.name);
    return out;
}

}  // namespace

NetworkData network_data(const RunConfig& config) {
    return network_data(config, dataset_descriptor(config.dataset.kind).schema(config.dataset));
}

NetworkData network_data(const RunConfig& config, const DatasetPreview& preview) {
    return preview.schema ? network_data(config, *preview.schema) : network_data(config);
}

std::int64_t parameter_count(const RunConfig& config) {
    return parameter_count(config, dataset_descriptor(config.dataset.kind).schema(config.dataset));
}

std::int64_t parameter_count(const RunConfig& config, const DatasetPreview& preview) {
    return preview.schema ? parameter_count(config, *preview.schema) : parameter_count(config);
}

}  // namespace engine
