#include "engine/bench.h"

#include <algorithm>
#include <chrono>

#include "core/philox.h"
#include "core/resolve_device.h"
#include "engine/catalog.h"
#include "engine/error.h"
#include "kernels/cuda_device.h"
#include "kernels/parallel.h"
#include "train/run_needs.h"
#include "train/trainer.h"

namespace engine {
namespace {

using Clock = std::chrono::steady_clock;

const DatasetInfo& dataset_info(const std::string& kind) {
    for (const auto& info : datasets()) {
        if (info.kind == kind) return info;
    }
    throw Error(ErrorCode::settings, msg("There is no data set called {}.", kind));
}

SampleShape shape_of(const DatasetInfo& info) {
    const auto& s = info.sample_shape;
    return {s[0], s.size() > 1 ? s[1] : 1, s.size() > 2 ? s[2] : 1};
}

/// Normal pixels and uniform labels: zeros would flatter the multipliers. A large batch repeats its
/// first samples, which costs a step the same.
Batch random_batch(const RunConfig& config, const DatasetInfo& info) {
    constexpr std::int64_t most_drawn = 1024;
    const RandomStream stream(config.seed, StreamId::bench);
    const auto sample = static_cast<std::size_t>(shape_of(info).elements());
    Batch batch;
    batch.pixels.resize(static_cast<std::size_t>(config.batch_size) * sample);
    const std::size_t drawn =
        static_cast<std::size_t>(std::min(config.batch_size, most_drawn)) * sample;
    for (std::size_t i = 0; i < batch.pixels.size(); ++i)
        batch.pixels[i] = i < drawn ? stream.normal(i) : batch.pixels[i - drawn];
    const RandomStream labels(config.seed, StreamId::bench, 1);
    for (std::int64_t i = 0; i < config.batch_size; ++i) {
        batch.labels.push_back(labels.bounded(static_cast<std::uint64_t>(i),
                                              static_cast<std::uint32_t>(info.classes)));
        batch.indices.push_back(i);
    }
    return batch;
}

/// One batch that lies on the device, again and again.
class FixedFeed final : public BatchFeed {
public:
    FixedFeed(const Device& device, const SampleShape& sample, const Batch& batch)
        : ring_(make_ring_feed(device, sample)) {
        const DeviceScope scope(device);
        batch_ = ring_->upload(batch);
    }
    DeviceBatch upload(const Batch&) override { return batch_; }

private:
    std::unique_ptr<BatchFeed> ring_;
    DeviceBatch batch_;
};

double milliseconds(Clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
}

/// Of its blocks, at least one.
void summarize(BenchResult& result, std::int64_t samples_a_step) {
    std::vector<double> sorted = result.block_step_ms;
    std::sort(sorted.begin(), sorted.end());
    result.median_step_ms = sorted[sorted.size() / 2];
    result.spread_ms = sorted.back() - sorted.front();
    result.steps_per_s = 1000 / result.median_step_ms;
    result.samples_per_s = result.steps_per_s * static_cast<double>(samples_a_step);
}

}  // namespace

BenchResult run_bench(const RunConfig& config, const BenchOptions& options) {
    const Device device = resolve_device(config.device);
    check_precision_is_there(config, device);
    const DatasetInfo& info = dataset_info(config.dataset.kind);
    check_batch_fits(config, shape_of(info), device);
    Trainer trainer(config, device, shape_of(info), info.classes, 0);
    std::vector<Batch> batches;
    batches.reserve(static_cast<std::size_t>(config.accumulate));
    batches.push_back(random_batch(config, info));
    while (static_cast<std::int64_t>(batches.size()) < config.accumulate)
        batches.push_back(batches.front());
    BenchResult result;
    const BooksScope books(trainer.books());
    FixedFeed feed(device, shape_of(info), batches.front());
    const auto take = [&](bool all) {
        const auto finished = trainer.take(all);
        if (finished && finished->refused) throw *finished->refused;
        if (finished && result.first_losses.size() < 20)
            result.first_losses.push_back(finished->row.loss);
        return finished.has_value();
    };
    Clock::duration host_time{};
    const auto step = [&] {
        const auto start = Clock::now();
        trainer.submit(batches, feed);
        host_time += Clock::now() - start;
        take(false);
    };
    for (std::int64_t i = 0; i < options.warm_up; ++i) step();
    while (take(true)) {
    }
    host_time = {};
    const std::int64_t launches = kernels::cuda::call_counts().launches;
    for (std::int64_t block = 0; block < options.blocks; ++block) {
        if (options.goes_on && !options.goes_on()) break;
        const auto start = Clock::now();
        for (std::int64_t i = 0; i < options.steps; ++i) step();
        while (take(true)) {
        }
        result.block_step_ms.push_back(milliseconds(Clock::now() - start) /
                                       static_cast<double>(options.steps));
        if (options.after_block) options.after_block(result.block_step_ms.back());
    }
    if (!result.block_step_ms.empty()) {
        const auto steps =
            static_cast<double>(options.steps) * static_cast<double>(result.block_step_ms.size());
        result.host_step_ms = milliseconds(host_time) / steps;
        result.launches_a_step =
            static_cast<double>(kernels::cuda::call_counts().launches - launches) / steps;
        summarize(result, config.batch_size * config.accumulate);
    }
    result.graph_nodes = trainer.graph_nodes();
    result.peak_bytes = trainer.books()->peak();
    result.threads = kernels::cpu::threads();
    result.warnings = trainer.take_warnings();
    return result;
}

}  // namespace engine
