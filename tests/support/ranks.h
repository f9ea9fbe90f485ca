#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/device_support.h"
#include "support/thread_communicator.h"

// Ranks of a data-parallel run as threads of the test.
namespace engine::test {

/// Calls f(line) for each of `size` ranks, each on its own thread. A rank that throws ends the
/// others; the first exception is rethrown.
template <typename F>
void on_ranks(int size, const F& f) {
    std::vector<std::shared_ptr<Communicator>> lines;
    for (auto& line : make_thread_communicators(size)) lines.push_back(std::move(line));
    std::exception_ptr first;
    std::mutex mutex;
    const auto run = [&](const std::shared_ptr<Communicator>& line) {
        try {
            f(line);
        } catch (const std::exception& error) {
            {
                const std::lock_guard lock(mutex);
                if (!first) first = std::current_exception();
            }
            line->abort("Rank " + std::to_string(line->rank()) + ": " + error.what());
        }
    };
    std::vector<std::thread> threads;
    for (const auto& line : lines) threads.emplace_back(run, std::cref(line));
    for (std::thread& thread : threads) thread.join();
    if (first) std::rethrow_exception(first);
}

/// Runs two ranks that compute on two GPUs: calls f(line, device).
template <typename F>
void on_two_gpus(const F& f) {
    on_ranks(2, [&](const std::shared_ptr<Communicator>& line) {
        const Device device{Device::Kind::cuda, line->rank()};
        const DeviceScope scope(device);
        f(line, device);
    });
}

/// The trainer of one rank, or of a single process, with its part of each batch.
class RankRun {
public:
    explicit RankRun(const RunConfig& config, std::shared_ptr<Communicator> line = nullptr,
                     const Device& device = {})
        : accumulate_(static_cast<std::size_t>(config.accumulate)),
          data_(open_dataset(config.dataset, config.seed).train),
          trainer(config, device, data_.data->schema(), 100, line),
          collator(data_, trainer.task().schema(true), options_of(config, line.get())),
          feed(make_feed(device, data_, trainer.task().schema(true), loader_options(config),
                         {.per_step = config.accumulate, .held = config.accumulate})) {}

    /// Makes the batches of the next step.
    std::vector<Batch>& make() {
        batches_.resize(accumulate_);
        for (Batch& batch : batches_) {
            collator.make(batch, next_ / collator.batches_per_epoch(),
                          next_ % collator.batches_per_epoch());
            ++next_;
        }
        return batches_;
    }
    CompletedStep step() { return trainer.step(make(), *feed); }
    CompletedStep step(std::vector<Batch>& batches) { return trainer.step(batches, *feed); }

    std::vector<std::vector<double>> weights() {
        std::vector<std::vector<double>> out;
        for (const Parameter& each : trainer.model().parameters())
            out.push_back(each.tensor.values());
        return out;
    }
    std::vector<std::vector<double>> buffers() {
        std::vector<std::vector<double>> out;
        for (const Parameter& each : trainer.model().buffers()) out.push_back(each.tensor.values());
        return out;
    }

private:
    static LoaderOptions options_of(const RunConfig& config, const Communicator* line) {
        LoaderOptions options = loader_options(config);
        if (!line) return options;
        options.rank = line->rank();
        options.ranks = line->size();
        return options;
    }

    std::size_t accumulate_;
    DataPart data_;

public:
    Trainer trainer;
    Collator collator;
    std::unique_ptr<BatchFeed> feed;

private:
    std::vector<Batch> batches_;
    std::int64_t next_ = 0;
};

}  // namespace engine::test
