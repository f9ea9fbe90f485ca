#include "train/run/training_sampler.h"

#include <algorithm>

#include "engine/base/error.h"
#include "tasks/task_descriptor.h"

namespace engine {
namespace {

/// Whether one row gives a batch norm of the model a single value a channel: tried on a row of
/// zeros and on weights that nobody has drawn, since only the shapes matter.
bool needs_two_rows(const RunConfig& config, const Schema& data) {
    const std::unique_ptr<Task> task = make_task(config, data);
    const Device host{};
    const auto model = make_model(config.model, task->model_shape(), std::nullopt, host);
    const auto is_statistic = [](const Parameter& each) {
        return each.name.ends_with("running_mean");
    };
    if (std::ranges::none_of(model->buffers(), is_statistic)) return false;
    const GradMode off(false);
    StepRandom random(config.seed, Tensor::zeros({}, DType::i64, host));
    model->random = &random;
    DeviceBatch batch = empty_batch(host, task->schema(true), 1);
    for (Tensor& field : batch.fields)
        std::fill_n(field.data_as<std::byte>(), field.bytes(), std::byte{0});
    const DeviceRecord<MetricSums> sums(host);
    TaskStep step(*model, batch, {}, sums.data());
    try {
        for (; step.phase < task->phases().size(); ++step.phase) task->losses(step);
    } catch (const Error& error) {
        return error.code() == ErrorCode::value;
    }
    return false;
}

}  // namespace

std::int64_t min_last_batch(const RunConfig& config, const Schema& data, std::int64_t rows,
                              int ranks) {
    // Each part of a batch has at least `rows` / `ranks` rows.
    const std::int64_t least = config.sync_batch_norm ? 2 : 2 * ranks;
    return rows < least && needs_two_rows(config, data) ? least : 1;
}

SamplerOptions training_sampler(const RunConfig& config, const DataPart& train, int ranks) {
    SamplerOptions options{.batch_size = config.batch_size,
                           .seed = config.seed,
                           .order = config.dataset.order,
                           .window = config.bptt};
    if (train.data->is_stream()) return options;
    const std::unique_ptr<Sampler> sampler = make_sampler(train, options);
    const std::int64_t batches = sampler->batches_per_epoch();
    if (batches > 1) {
        const std::int64_t last = std::ssize(sampler->plan(0, batches - 1).indices);
        options.min_last = min_last_batch(config, train.data->schema(), last, ranks);
    }
    return options;
}

}  // namespace engine
