#include "engine/instruments/speedup.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/runs/comparison.h"
#include "engine/train/batch_finder.h"
#include "instruments/xray/peak_speed.h"
#include "record/median.h"
#include "train/bench/bench_steps.h"

namespace engine {
namespace {

/// One side, with as many steps to a block as take `block_ms`.
class Side {
public:
    Side(const RunConfig& config, double block_ms) : steps_(config) {
        steps_.block(2);
        const double step_ms = std::min(steps_.block(1), steps_.block(1));
        count_ = std::max<std::int64_t>(1, std::lround(block_ms / std::max(step_ms, 1e-3)));
    }
    double block() { return steps_.block(count_); }
    std::int64_t peak_bytes() { return steps_.trainer().accounting()->peak(); }
    Device device() { return steps_.trainer().device(); }

private:
    BenchSteps steps_;
    std::int64_t count_ = 1;
};

StepParts scaled(const StepParts& parts, double step_ms) {
    const double by = parts.total() > 0 ? step_ms / parts.total() : 0;
    StepParts out = parts;
    for (double* part : {&out.products, &out.memory, &out.brief, &out.casts, &out.update})
        *part *= by;
    return out;
}

bool goes_on(const SpeedupOptions& options, const SpeedupProgress& progress) {
    return !options.goes_on || options.goes_on(progress);
}

/// Milliseconds of a step, by block, of both sides in turns; empty if it was ended early.
struct Turns {
    std::vector<double> fp32, amp, ratios;
};
Turns take_turns(Side& fp32, Side& amp, const std::string& precision,
                 const SpeedupOptions& options) {
    Turns turns;
    for (std::int64_t pair = 0; pair < options.pairs; ++pair) {
        if (!goes_on(options, {precision, pair})) return {};
        turns.fp32.push_back(fp32.block());
        turns.amp.push_back(amp.block());
        turns.ratios.push_back(turns.fp32.back() / turns.amp.back());
    }
    return turns;
}

/// False if the caller ended it early.
bool measure_speed(Speedup& row, const RunConfig& plain, const RunConfig& mixed,
                   const SpeedupOptions& options) {
    Side fp32(plain, options.block_ms);
    Side amp(mixed, options.block_ms);
    const Turns turns = take_turns(fp32, amp, row.precision, options);
    if (turns.ratios.empty()) return false;
    row.fp32_ms = median(turns.fp32);
    row.amp_ms = median(turns.amp);
    row.speed_up = median(turns.ratios);
    row.least = *std::min_element(turns.ratios.begin(), turns.ratios.end());
    row.most = *std::max_element(turns.ratios.begin(), turns.ratios.end());
    row.fp32_bytes = fp32.peak_bytes();
    row.amp_bytes = amp.peak_bytes();
    row.peaks = peak_speeds(amp.device());
    return true;
}

struct LargestBatch {
    std::int64_t size = 0;
    std::int64_t memory = 0;  ///< the limit
};

/// Nothing if the caller ended the search early.
std::optional<LargestBatch> largest_batch(const RunConfig& config, std::int64_t memory,
                                          const SpeedupOptions& options) {
    bool ended = false;
    FindBatchOptions find;
    find.memory = memory;
    find.beyond_data = true;
    find.before = [&](std::int64_t size) {
        ended = !goes_on(options, {config.precision.preset, options.pairs, size});
        return !ended;
    };
    try {
        const FoundBatch found = find_largest_batch(config, find);
        if (ended) return std::nullopt;
        return LargestBatch{found.batch_size, found.memory};
    } catch (const Error& error) {
        if (error.code() != ErrorCode::memory || memory == 0) throw;
        return LargestBatch{0, memory};
    }
}

/// Multiply-adds per byte from which arithmetic matters; below, an operation is bound by memory.
constexpr double min_intensity = 0.5;
/// An operation is brief if it takes less than this, and work explains less than half of it.
constexpr double brief_us = 20;

double bytes_of(const XrayOp& op) { return static_cast<double>(op.bytes_read + op.bytes_written); }

/// Bytes a microsecond that the best of the larger operations reached: what memory gives here.
double bandwidth_of(const Xray& xray) {
    constexpr double large = 1 << 20;
    double best = 0;
    for (const XrayOp& op : xray.ops)
        if (op.us > 0 && bytes_of(op) >= large) best = std::max(best, bytes_of(op) / op.us);
    constexpr double usual = 10'000;  // 10 GB/s, where no operation is large enough to measure it
    return best > 0 ? best : usual;
}

/// Microseconds that the operation's arithmetic and traffic take at full speed.
double work_us(const Xray& xray, const XrayOp& op, double bandwidth) {
    const auto peak = xray.peaks.find(op.compute_dtype);
    const double arithmetic = peak == xray.peaks.end() ? 0 : op.flops / peak->second * 1e6;
    return std::max(arithmetic, bytes_of(op) / bandwidth);
}

bool is_product(const XrayOp& op) {
    return bytes_of(op) > 0 && op.flops / bytes_of(op) >= min_intensity;
}

}  // namespace

std::vector<Speedup> measure_speedup(const RunConfig& config, const SpeedupOptions& options) {
    std::vector<Speedup> rows;
    if (options.precisions.empty() || !goes_on(options, {options.precisions.front()})) return rows;
    const RunConfig plain = in_precision(config, baseline_precision());
    const StepParts plain_parts = sum_parts(xray_first_step(plain));
    std::optional<LargestBatch> batch;  // AMP gets FP32's limit, also if that is the free memory
    for (const std::string& precision : options.precisions) {
        const RunConfig mixed = in_precision(config, precision);
        Speedup row;
        row.model = config.model.kind;
        row.precision = precision;
        row.batch_size = config.batch_size;
        if (!measure_speed(row, plain, mixed, options)) return rows;
        row.fp32 = scaled(plain_parts, row.fp32_ms);
        row.amp = scaled(sum_parts(xray_first_step(mixed)), row.amp_ms);
        if (options.batch_memory) {
            if (!batch) batch = largest_batch(plain, *options.batch_memory, options);
            if (!batch) return rows;
            const auto amp = largest_batch(mixed, batch->memory, options);
            if (!amp) return rows;
            row.batch_memory = batch->memory;
            row.fp32_largest_batch = batch->size;
            row.largest_batch = amp->size;
        }
        explain(row);
        rows.push_back(std::move(row));
    }
    return rows;
}

RunConfig speed_settings(RunConfig config) {
    const RunConfig any;
    config.precision = any.precision;
    config.scaler = any.scaler;
    config.schedule = any.schedule;
    config.early_stopping = any.early_stopping;
    config.checkpoint = any.checkpoint;
    config.instruments = any.instruments;
    config.teach = any.teach;
    config.evaluation_batch = any.evaluation_batch;
    config.epochs = any.epochs;
    config.max_steps = any.max_steps;
    config.stop_on_nan = any.stop_on_nan;
    config.seed = any.seed;
    // Steps are measured on random data and freshly drawn weights.
    config.dataset.augment = any.dataset.augment;
    config.dataset.normalize = any.dataset.normalize;
    config.dataset.train_limit = any.dataset.train_limit;
    config.dataset.test_limit = any.dataset.test_limit;
    config.dataset.order = any.dataset.order;
    config.dataset.validation_share = any.dataset.validation_share;
    config.model.init_from = any.model.init_from;
    config.model.init_key = any.model.init_key;
    config.model.new_head = any.model.new_head;
    config.optimizer.options.erase("lr");
    return completed(std::move(config));
}

std::vector<RunConfig> speedup_settings() {
    std::vector<RunConfig> all;
    for (const ModelDescriptor& model : models()) {
        if (model.benchmark.batch == 0) continue;
        const auto data = std::ranges::find_if(datasets(), [&](const DatasetDescriptor& each) {
            return each.needs.empty() && each.input == name(model.inputs.front());
        });
        RunConfig& config = all.emplace_back();
        config.dataset.kind = data->kind;
        config.model.kind = model.kind;
        config.batch_size = model.benchmark.batch;
        config.optimizer.options = model.benchmark.optimizer;
        config.schedule.kind = schedules().front().kind;  // a constant rate
    }
    return all;
}

StepParts sum_parts(const Xray& xray) {
    StepParts parts;
    const double bandwidth = bandwidth_of(xray);
    for (const XrayOp& op : xray.ops) {
        double cast_us = 0;
        for (const XrayCast& cast : op.casts) {
            cast_us += cast.us;
            parts.cast_bytes += cast.bytes;
        }
        const double own_us = std::max(0.0, op.us - cast_us);
        parts.casts += cast_us / 1000;
        if (op.op == "to") {
            parts.casts += own_us / 1000;
            parts.cast_bytes += op.bytes_read + op.bytes_written;
        } else if (op.pass == XrayPass::update) {
            parts.update += own_us / 1000;
        } else if (own_us < brief_us && 2 * work_us(xray, op, bandwidth) < own_us) {
            parts.brief += own_us / 1000;
            ++parts.brief_ops;
        } else if (is_product(op)) {
            parts.products += own_us / 1000;
            parts.product_flops += op.flops;
        } else {
            parts.memory += own_us / 1000;
        }
    }
    return parts;
}

}  // namespace engine
