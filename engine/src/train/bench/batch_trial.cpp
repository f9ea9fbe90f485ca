#include "train/bench/batch_trial.h"

#include <chrono>
#include <functional>
#include <new>
#include <optional>

#include "engine/base/error.h"
#include "tensor/memory/memory.h"
#include "train/bench/bench_batch.h"
#include "train/run/run_needs.h"
#include "train/run/trainer.h"
#include "train/step/fixed_feed.h"

namespace engine {
namespace {

using Clock = std::chrono::steady_clock;

/// On a GPU the step is captured after three, and its graph has memory of its own.
int steps_of(const Device& device) { return device.kind == Device::Kind::cpu ? 2 : 6; }

/// Bytes that do not grow with the batch. Between two steps all of them are in use.
std::int64_t fixed_bytes(const MemoryAccounting& accounting) {
    std::int64_t bytes = 0;
    for (const MemoryUse use : {MemoryUse::weights, MemoryUse::masters, MemoryUse::gradients,
                                MemoryUse::optimizer, MemoryUse::cast_cache})
        bytes += accounting.bytes(use);
    return bytes;
}

void take_steps(Trainer& trainer, const RunConfig& config, const Device& device, TriedBatch& out) {
    const Schema& schema = trainer.task().schema(true);
    check_batch_fits(config, schema, device);
    const AccountingScope accounting(trainer.accounting());
    const std::vector<Batch> batches(static_cast<std::size_t>(config.accumulate),
                                     random_batch(schema, config.batch_size, config.seed));
    FixedFeed feed(device, schema, batches.front());
    for (int i = 0; i < steps_of(device); ++i) {
        const auto start = Clock::now();
        trainer.step(batches, feed);
        const std::chrono::duration<double, std::milli> taken = Clock::now() - start;
        out.trial.step_ms = taken.count();
        out.fixed_bytes = fixed_bytes(*trainer.accounting());
    }
}

void unless_out_of_memory(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        if (error.code() != ErrorCode::memory) throw;
    } catch (const std::bad_alloc&) {
    }
}

/// Memory of the former trial would otherwise stand in the way of blocks of other sizes.
struct CacheRelease {
    CacheRelease() { release_cached_memory(); }
    ~CacheRelease() { release_cached_memory(); }
    CacheRelease(const CacheRelease&) = delete;
    CacheRelease& operator=(const CacheRelease&) = delete;
};

}  // namespace

TriedBatch try_batch(RunConfig config, const Device& device, const Schema& data,
                     std::int64_t batch_size, std::int64_t limit) {
    const CacheRelease release;
    config.batch_size = batch_size;
    TriedBatch out;
    out.trial.batch_size = batch_size;
    std::optional<Trainer> trainer;
    unless_out_of_memory([&] {
        trainer.emplace(config, device, data, 0, nullptr, limit);
        take_steps(*trainer, config, device, out);
        out.trial.fits = trainer->accounting()->peak() <= limit;
    });
    if (!out.trial.fits) out.trial.step_ms = 0;
    if (!trainer) return out;  // not even the weights fit
    out.trial.peak_bytes = trainer->accounting()->peak();
    out.warnings = trainer->take_warnings();
    return out;
}

}  // namespace engine
