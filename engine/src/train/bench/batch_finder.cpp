#include "engine/train/batch_finder.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <new>
#include <optional>

#include "data/dataset_descriptor.h"
#include "data/schema.h"
#include "engine/base/error.h"
#include "engine/number/figure_text.h"
#include "kernels/device.h"
#include "tensor/device.h"
#include "tensor/memory/memory.h"
#include "train/bench/bench_steps.h"
#include "train/run/run_needs.h"
#include "train/run/trainer.h"
#include "train/step/batch_feed.h"

namespace engine {
namespace {

/// A trial, and what of its memory belongs to the weights.
struct TriedBatch {
    BatchTrial trial;
    std::int64_t fixed_bytes = 0;
    std::vector<Message> warnings{};
};

using Clock = std::chrono::steady_clock;

/// On a GPU the step is captured after three, and its graph has memory of its own.
int steps_of(const Device& device) { return device.kind == Device::Kind::cpu ? 2 : 6; }

/// Bytes that do not grow with the batch. Between two steps all of them are in use.
std::int64_t fixed_bytes(const MemoryAccounting& accounting) {
    std::int64_t bytes = 0;
    for (const MemoryUse use : {MemoryUse::weights, MemoryUse::masters, MemoryUse::gradients,
                                MemoryUse::optimizer, MemoryUse::codes, MemoryUse::cast_cache})
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

/// Trains a fresh model for a few steps on random data with this batch size, within `limit` bytes
/// by the memory accounting. Out of memory is an outcome; throws every other Error.
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

constexpr std::int64_t first_tried = 4;
constexpr std::int64_t farthest = 8;     // times the largest that fitted: predictions stay near
constexpr std::int64_t resolution = 16;  // of a batch size

/// The free memory of the device that a run may take. On the CPU a tenth of the machine's memory,
/// or of the addresses that a limit leaves (`ulimit -v`), remains for everything else.
std::int64_t free_memory(const Device& device) {
    const std::int64_t rest = static_cast<std::int64_t>(memory_limit(device)) -
                              static_cast<std::int64_t>(memory_in_use(device));
    if (device.kind != Device::Kind::cpu) return rest;
    const std::int64_t most =
        std::min(kernels::cpu::available_memory(), kernels::cpu::address_space_left());
    return std::min(rest, most / 10 * 9);
}

/// Predicts peak memory by batch size from the trials that fitted: from one trial the growing part
/// is proportional to the batch; from several it is linear through the two largest.
class Prediction {
public:
    void add(const TriedBatch& tried) {
        before_ = last_;
        last_ = Point{static_cast<double>(tried.trial.batch_size),
                      static_cast<double>(tried.trial.peak_bytes)};
        fixed_ = static_cast<double>(tried.fixed_bytes);
    }
    bool known() const { return last_.has_value(); }
    double bytes(double batch) const { return last_->bytes + (batch - last_->batch) * slope(); }
    /// Largest batch within the limit.
    std::int64_t largest(std::int64_t limit) const {
        const double more = (static_cast<double>(limit) - last_->bytes) / slope();
        return static_cast<std::int64_t>(
            std::clamp(last_->batch + std::floor(more), 0.0, static_cast<double>(max_batch_tried)));
    }

private:
    struct Point {
        double batch, bytes;
    };
    double slope() const {
        const double alone = (last_->bytes - fixed_) / last_->batch;
        if (!before_ || before_->batch == last_->batch) return std::max(alone, 1.0);
        const double both = (last_->bytes - before_->bytes) / (last_->batch - before_->batch);
        // Sizes of blocks are rounded up in steps, which may hide what a few more samples take.
        return both > 0 ? both : std::max(alone, 1.0);
    }
    std::optional<Point> before_, last_;
    double fixed_ = 0;
};

class Search {
public:
    Search(const RunConfig& config, const FindBatchOptions& options)
        : config_(config), options_(options), device_(checked_device(config)) {
        open_data();
        found_.memory = options.memory > 0 ? options.memory : free_memory(device_);
        above_ = (found_.samples > 0 ? std::min(found_.samples, max_batch_tried) : max_batch_tried) + 1;
    }

    FoundBatch run() {
        while (above_ - found_.batch_size >
               std::max<std::int64_t>(1, found_.batch_size / resolution)) {
            const std::int64_t next = next_batch();
            if (options_.before && !options_.before(next)) return found_;
            take(next);
        }
        if (found_.batch_size == 0) refuse();
        return found_;
    }

private:
    void open_data() {
        const DatasetDescriptor& kind = dataset_descriptor(config_.dataset.kind);
        const bool missing = !kind.needs.empty() && config_.dataset.path.empty();
        if (missing || (options_.beyond_data && !kind.files_decide)) {
            schema_ = kind.schema(config_.dataset);
            return;
        }
        const DataParts data = open_dataset(config_.dataset, config_.seed);
        schema_ = data.train.data->schema();
        if (options_.beyond_data) return;
        found_.samples = data.train.size();
        // Each row of a batch of a text reads a stream of its own, at least one window long.
        if (data.train.data->is_stream())
            found_.samples = std::max<std::int64_t>(found_.samples / (config_.bptt + 1), 1);
    }

    std::int64_t next_batch() const {
        const std::int64_t low = found_.batch_size, high = above_;
        if (low == 0) return high > first_tried ? first_tried : std::max<std::int64_t>(high / 2, 1);
        const std::int64_t guess = prediction_.largest(found_.memory);
        const std::int64_t least = low + std::max<std::int64_t>(1, low / resolution);
        if (tried_too_large_ && 2 * guess > low + high) return (low + high) / 2;
        return std::clamp(guess, std::min(least, high - 1), std::min(high - 1, farthest * low));
    }

    void take(std::int64_t batch) {
        const double expected =
            prediction_.known() ? prediction_.bytes(static_cast<double>(batch)) : 0;
        TriedBatch tried = try_batch(config_, device_, schema_, batch, found_.memory);
        tried.trial.predicted_bytes = std::llround(expected);
        found_.trials.push_back(tried.trial);
        if (tried.trial.fits) {
            prediction_.add(tried);
            if (found_.predicted == 0) found_.predicted = prediction_.largest(found_.memory);
            found_.batch_size = batch;
            found_.peak_bytes = tried.trial.peak_bytes;
            found_.fixed_bytes = tried.fixed_bytes;
            found_.warnings = std::move(tried.warnings);
        } else {
            above_ = batch;
            tried_too_large_ = true;
            found_.too_large = batch;
        }
        if (options_.after) options_.after(tried.trial);
    }

    [[noreturn]] void refuse() const {
        throw Error(ErrorCode::memory,
                    msg("Not even a batch of 1 fits into {}.", bytes_text(found_.memory)),
                    msg("Give it more memory, or take a smaller model."));
    }

    const RunConfig& config_;
    const FindBatchOptions& options_;
    const Device device_;
    Schema schema_;
    Prediction prediction_;
    std::int64_t above_ = 0;  // smallest that is not to be tried
    bool tried_too_large_ = false;
    FoundBatch found_;
};

}  // namespace

FoundBatch find_largest_batch(const RunConfig& config, const FindBatchOptions& options) {
    if (!config.dataset.order.empty()) {
        throw Error(ErrorCode::settings, msg("dataset.order: {}: the file defines the batches, so "
                                             "there is no batch size to find",
                                             config.dataset.order));
    }
    return Search(config, options).run();
}

std::int64_t parse_bytes(std::string_view text) {
    double number = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || !std::isfinite(number) || number <= 0) return 0;
    std::string unit(rest, end);
    std::erase(unit, ' ');
    constexpr std::pair<std::string_view, double> units[] = {
        {"", 1},         {"B", 1},        {"KB", 1e3},     {"MB", 1e6},    {"GB", 1e9},
        {"TB", 1e12},    {"K", 1e3},      {"M", 1e6},      {"G", 1e9},     {"T", 1e12},
        {"KIB", 0x1p10}, {"MIB", 0x1p20}, {"GIB", 0x1p30}, {"TIB", 0x1p40}};
    std::ranges::transform(unit, unit.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    for (const auto& [name, factor] : units) {
        const double bytes = number * factor;
        if (unit == name) return bytes >= 1 && bytes < 0x1p62 ? std::llround(bytes) : 0;
    }
    return 0;
}

}  // namespace engine
