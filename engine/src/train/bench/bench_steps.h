#pragma once

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "data/loader/batch.h"
#include "data/loader/collator.h"
#include "data/schema.h"
#include "engine/settings/run_config.h"
#include "train/run/trainer.h"
#include "train/step/batch_feed.h"

namespace engine {

/// Training steps of some settings on random data that lies on the device already, with nothing
/// else in them. The settings must have passed validate(). Throws Error.
class BenchSteps {
public:
    /// `ranks` connects the ranks that compute the steps together, all of which construct it. Null:
    /// this process alone.
    explicit BenchSteps(const RunConfig& config,
                        const std::shared_ptr<Communicator>& ranks = nullptr);
    BenchSteps(const BenchSteps&) = delete;
    BenchSteps& operator=(const BenchSteps&) = delete;

    /// Runs some steps to their end; milliseconds of one, on average.
    double block(std::int64_t steps);

    Trainer& trainer() { return trainer_; }
    /// Samples of a step, over all micro-batches, as the data set counts them (images, tokens ...).
    std::int64_t samples_a_step() const;
    /// Losses of the first steps, at most 20.
    const std::vector<float>& first_losses() const { return first_losses_; }
    /// Time that the host took to submit steps, since the last call.
    std::chrono::duration<double, std::milli> take_host_time();
    /// The times of the exchange of gradients, over all steps since the last call.
    ExchangeTimes take_exchange_times() { return std::exchange(exchanged_, {}); }

private:
    void step();
    bool take(bool all);
    void settle();

    RunConfig config_;
    Trainer trainer_;
    std::vector<Batch> batches_;
    std::optional<FixedFeed> feed_;
    std::vector<float> first_losses_;
    ExchangeTimes exchanged_;
    std::chrono::steady_clock::duration host_time_{};
};

/// A full batch of random values of any schema: normal numbers (zeros would make the hardware look
/// faster), uniform classes and words, every row of a ragged field filled, boxes that lie in the
/// image. A large batch repeats its first samples, which does not change the time of a step.
Batch random_batch(const Schema& schema, std::int64_t rows, std::int64_t seed);

}  // namespace engine
