#include "engine/bench.h"

#include <algorithm>
#include <chrono>

#include "core/resolve_device.h"
#include "data/dataset_descriptor.h"
#include "engine/error.h"
#include "kernels/cuda_device.h"
#include "kernels/parallel.h"
#include "train/bench_batch.h"
#include "train/fixed_feed.h"
#include "train/run_needs.h"
#include "train/trainer.h"

namespace engine {
namespace {

using Clock = std::chrono::steady_clock;

/// Fields of the data set's samples. Where its files decide they are read, if there are any.
Schema schema_of(const RunConfig& config) {
    const DatasetDescriptor& kind = dataset_descriptor(config.dataset.kind);
    const bool read = kind.files_decide && (kind.needs.empty() || !config.dataset.path.empty());
    return read ? open_dataset(config.dataset, config.seed).train.data->schema()
                : kind.schema(config.dataset);
}

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
    Trainer trainer(config, device, schema_of(config), 0);
    const Schema& schema = trainer.task().schema(true);
    check_batch_fits(config, schema, device);
    const std::vector<Batch> batches(static_cast<std::size_t>(config.accumulate),
                                     random_batch(schema, config.batch_size, config.seed));
    BenchResult result;
    const BooksScope books(trainer.books());
    FixedFeed feed(device, schema, batches.front());
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
        summarize(result, batches.front().samples * config.accumulate);
    }
    result.graph_nodes = trainer.graph_nodes();
    result.peak_bytes = trainer.books()->peak();
    result.threads = kernels::cpu::threads();
    result.warnings = trainer.take_warnings();
    return result;
}

}  // namespace engine
