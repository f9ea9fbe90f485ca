#include "train/run/training_batches.h"

#include <algorithm>

#include "data/dataset_descriptor.h"
#include "engine/base/error.h"
#include "parallel/communicator.h"
#include "tasks/task_descriptor.h"
#include "tensor/device.h"
#include "train/run/run_needs.h"

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

std::int64_t steps_per_epoch(const RunConfig& config, std::int64_t batches) {
    return (batches + config.accumulate - 1) / config.accumulate;
}

PlannedSteps planned_steps(const RunConfig& config, const DataPart& train,
                           const SamplerOptions& sampler) {
    const std::int64_t batches = make_sampler(train, sampler)->batches_per_epoch();
    const std::int64_t each = steps_per_epoch(config, batches), all = each * config.epochs;
    return {config.max_steps > 0 ? std::min(all, config.max_steps) : all, each};
}

TrainingBatches::TrainingBatches(const RunConfig& config, const DataPart& train,
                                 const SamplerOptions& sampler, Trainer& trainer)
    : config_(config),
      train_(train),
      schema_(trainer.task().schema(true)),
      options_{.sampler = sampler, .threads = config.threads} {
    // A task of several phases needs its batches until the last one.
    const bool holds = trainer.task().phases().size() > 1;
    LoaderOptions options = options_;
    feed_ = make_feed(trainer.device(), train, schema_, options,
                      {.per_step = config.accumulate, .held = holds ? config.accumulate : 1});
    feed_->choose(options);
    if (const Communicator* const ranks = trainer.ranks()) {
        options.rank = ranks->rank();
        options.ranks = ranks->size();
    }
    loader_ = std::make_unique<BatchLoader>(train, schema_, options);
}

std::span<const Batch> TrainingBatches::next() {
    batches_.resize(static_cast<std::size_t>(config_.accumulate));
    std::size_t taken = 0;
    do {
        loader_->next(batches_[taken]);
    } while (!batches_[taken++].last_of_epoch && taken < batches_.size());
    batches_.resize(taken);
    return batches_;
}

std::vector<Batch> TrainingBatches::at(std::int64_t epoch, std::int64_t batch) const {
    // This collator is one of its own: the loader may be far ahead, and leaves out fields that lie
    // on the device.
    Collator collator(train_, schema_, options_);
    std::vector<Batch> out;
    for (std::int64_t i = 0; i < config_.accumulate; ++i) {
        collator.make(out.emplace_back(), epoch, batch + i);
        if (out.back().last_of_epoch) break;
    }
    return out;
}

FreshSteps::FreshSteps(const RunConfig& config, const std::stop_token& stop)
    : device_(checked_device(config)),
      scope_(device_),
      data_(open_dataset(config.dataset, config.seed, stop)),
      sampler_(training_sampler(config, data_.train)),
      planned_(planned_steps(config, data_.train, sampler_)),
      trainer_(config, device_, data_.train.data->schema(), planned_),
      accounting_(trainer_.accounting()),
      batches_(config, data_.train, sampler_, trainer_) {}

StepRecord FreshSteps::step() {
    last_ = batches_.next();
    return trainer_.step(last_, batches_.feed()).row;
}

std::vector<Message> FreshSteps::warnings() {
    std::vector<Message> out = data_.warnings;
    for (Message& warning : trainer_.take_warnings()) out.push_back(std::move(warning));
    return out;
}

}  // namespace engine
