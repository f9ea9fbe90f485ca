#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "data/loader/batch_loader.h"
#include "train/run/trainer.h"

namespace engine {

/// SamplerOptions::min_last of these settings where the last batch of an epoch has `rows`, and is
/// not the only one: see training_sampler(). Throws as make_task() and make_model() do.
std::int64_t min_last_batch(const RunConfig& config, const Schema& data, std::int64_t rows,
                            int ranks = 1);

/// How a run takes its training batches. A last batch so short that a batch norm would get a single
/// value a channel joins the batch before it: PyTorch's users drop it, or their run ends with an
/// error. Each of several ranks has its part of a batch, and so a batch norm that is not
/// synchronised. Throws as make_task() and make_model() do.
SamplerOptions training_sampler(const RunConfig& config, const DataPart& train, int ranks = 1);

/// The optimizer steps of an epoch of so many batches.
std::int64_t steps_per_epoch(const RunConfig& config, std::int64_t batches);
/// The steps of a run that begins.
PlannedSteps planned_steps(const RunConfig& config, const DataPart& train,
                           const SamplerOptions& sampler);

/// The batches of training steps, and how they reach the trainer's device. One thread.
class TrainingBatches {
public:
    /// All must outlive it. Throws Error.
    TrainingBatches(const RunConfig& config, const DataPart& train, const SamplerOptions& sampler,
                    Trainer& trainer);

    /// The micro-batches of the next optimizer step, until the next call; an epoch's last step may
    /// have fewer.
    std::span<const Batch> next();
    /// Micro-batches of the step that begins with this batch of the epoch, with all fields on the
    /// host.
    std::vector<Batch> at(std::int64_t epoch, std::int64_t batch) const;
    BatchFeed& feed() { return *feed_; }
    BatchLoader& loader() const { return *loader_; }

private:
    const RunConfig& config_;
    const DataPart& train_;
    const Schema schema_;
    LoaderOptions options_;  // over all ranks
    std::unique_ptr<BatchFeed> feed_;
    std::unique_ptr<BatchLoader> loader_;
    std::vector<Batch> batches_;
};

/// The first steps of a run of these settings, on a fresh model. Nothing is recorded. One thread.
class FreshSteps {
public:
    /// The settings must outlive it. Throws Error.
    explicit FreshSteps(const RunConfig& config, const std::stop_token& stop = {});

    StepRecord step();
    /// The micro-batches of the last step.
    std::span<const Batch> batches() const { return last_; }
    Trainer& trainer() { return trainer_; }
    /// Steps of a whole run of the settings.
    std::int64_t planned() const { return planned_.all; }
    /// Messages for the user on the data, and on the steps so far.
    std::vector<Message> warnings();

private:
    Device device_;
    DeviceScope scope_;
    DataParts data_;
    SamplerOptions sampler_;
    PlannedSteps planned_;
    Trainer trainer_;
    AccountingScope accounting_;
    TrainingBatches batches_;
    std::span<const Batch> last_;
};

}  // namespace engine
