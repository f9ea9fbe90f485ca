#include "engine/train/bench.h"

#include <algorithm>

#include "kernels/cuda_device.h"
#include "kernels/parallel.h"
#include "kernels/plan_choice.h"
#include "parallel/communicator.h"
#include "train/bench/bench_steps.h"

namespace engine {
namespace {

/// Sums up the blocks, of which there is at least one.
void summarize(BenchResult& result, std::int64_t samples_a_step) {
    std::vector<double> sorted = result.block_step_ms;
    std::sort(sorted.begin(), sorted.end());
    result.median_step_ms = sorted[sorted.size() / 2];
    result.spread_ms = sorted.back() - sorted.front();
    result.steps_per_s = 1000 / result.median_step_ms;
    result.samples_per_s = result.steps_per_s * static_cast<double>(samples_a_step);
}

/// Decided by rank 0 for all ranks.
bool goes_on(const BenchOptions& options) {
    std::int64_t more = 1;
    Communicator* const ranks = options.communicator.get();
    if ((!ranks || ranks->rank() == 0) && options.goes_on) more = options.goes_on() ? 1 : 0;
    if (ranks) ranks->broadcast({&more, kernels::DType::i64, 1});
    return more != 0;
}

/// The steps of the options, and on a GPU those in which algorithms are still raced: a race takes
/// up to a second.
void warm_up(BenchSteps& steps, const BenchOptions& options) {
    if (options.warm_up > 0) steps.block(options.warm_up);
    if (steps.trainer().device().kind != Device::Kind::cuda) return;
    constexpr int max_more = 20;
    for (int more = 0; more < max_more; ++more) {
        const std::int64_t before = kernels::plan_races();
        steps.block(1);
        bool raced = kernels::plan_races() > before;
        // All ranks make the same steps.
        if (options.communicator) raced = any(*options.communicator, raced);
        if (!raced) return;
    }
}

}  // namespace

BenchResult run_bench(const RunConfig& config, const BenchOptions& options) {
    BenchSteps steps(config, options.communicator);
    BenchResult result;
    warm_up(steps, options);
    steps.take_host_time();
    steps.take_exchange_times();
    const std::int64_t launches = kernels::cuda::call_counts().launches;
    for (std::int64_t block = 0; block < options.blocks; ++block) {
        if (!goes_on(options)) break;
        result.block_step_ms.push_back(steps.block(options.steps));
        if (options.after_block) options.after_block(result.block_step_ms.back());
    }
    if (!result.block_step_ms.empty()) {
        const auto count =
            static_cast<double>(options.steps) * static_cast<double>(result.block_step_ms.size());
        result.host_step_ms = steps.take_host_time().count() / count;
        result.launches_a_step =
            static_cast<double>(kernels::cuda::call_counts().launches - launches) / count;
        summarize(result, steps.samples_a_step());
        if (options.communicator) {
            const ExchangeTimes times = steps.take_exchange_times();
            result.exchange_ms = times.total_ms / count;
            result.exchange_hidden_share = times.hidden_ms / times.total_ms;
        }
    }
    result.first_losses = steps.first_losses();
    result.graph_nodes = steps.trainer().graph_nodes();
    result.peak_bytes = steps.trainer().accounting()->peak();
    result.threads = kernels::cpu::threads();
    result.warnings = steps.trainer().take_warnings();
    return result;
}

}  // namespace engine
