#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/message.h"
#include "engine/base/names.h"
#include "engine/instruments/xray.h"
#include "engine/settings/catalog.h"
#include "engine/settings/run_config.h"

namespace engine {

/// Whether mixed precision makes training faster on this machine, and why or why not.

/// The parts of a step's time, in milliseconds. They add up to the step.
struct StepParts {
    double products = 0;  ///< matrix products and convolutions, but for the short ones
    double memory = 0;    ///< operations that mostly read and write
    double brief = 0;     ///< short operations: mostly the fixed cost of a call
    double casts = 0;     ///< conversions that autocast inserted, gradients' included
    double update = 0;    ///< gradient check and optimizer
    double product_flops = 0;
    std::int64_t brief_ops = 0;
    std::int64_t cast_bytes = 0;

    double total() const { return products + memory + brief + casts + update; }
};

/// Sums up the times of a step's trace by part. Operations that FP32 and AMP compute by the same
/// kernels count alike in both, so the parts of two traces can be compared.
StepParts sum_parts(const Xray& xray);

enum class PayReason : std::uint8_t {
    products,        ///< pays: products are faster
    traffic,         ///< pays: less is read and written
    no_arithmetic,   ///< the device multiplies 16-bit numbers no faster than FP32
    launch_bound,    ///< the fixed cost of many short operations
    casts,           ///< conversions
    memory_bound,    ///< products are too small a share of the step
    small_products,  ///< products reach too little of what a large one does
    update,          ///< the optimizer keeps masters and 16-bit copies
    undecided        ///< faster in the median, but not in every pair: the machine was busy
};
template <>
inline constexpr std::array enum_names<PayReason> = {"products",       "traffic", "no-arithmetic",
                                                     "launch-bound",   "casts",   "memory-bound",
                                                     "small-products", "update",  "undecided"};

/// Speed of one precision beside FP32, both in turns.
struct Speedup {
    std::string model;
    std::string precision;  ///< the preset
    std::int64_t batch_size = 0;
    double fp32_ms = 0, amp_ms = 0;  ///< medians of the blocks
    double speed_up = 0;             ///< median over pairs of blocks, FP32's time by AMP's
    double least = 0, most = 0;      ///< of the pairs
    std::int64_t fp32_bytes = 0, amp_bytes = 0;  ///< peaks of the memory accounting
    std::int64_t batch_memory = 0;  ///< limit in bytes of the next two; 0: not searched
    /// Largest batches within that limit; 0: not even one sample fits. max_batch_tried
    /// (engine/train/batch_finder.h) is a lower bound.
    std::int64_t fp32_largest_batch = 0, largest_batch = 0;
    StepParts fp32, amp;                  ///< scaled to the medians
    std::map<std::string, double> peaks;  ///< FLOP/s of a large product, by type
    PayReason reason = PayReason::products;
    Message sentence;  ///< the verdict and its reason, with the numbers

    bool pays() const;  ///< the speed-up is above 1 in every pair, and its median is 1.05 or more
};

/// The reason and the sentence of measured figures: fills in `reason` and `sentence`.
void explain(Speedup& speedup);

/// The progress of a measurement.
struct SpeedupProgress {
    std::string precision;   ///< measured beside FP32; the baseline: its largest batch is searched
    std::int64_t pairs = 0;  ///< of blocks measured so far
    std::int64_t batch_size = 0;  ///< tried for the largest batch; 0: the speed is measured
};

struct SpeedupOptions {
    std::vector<std::string> precisions = amp_precisions();
    std::int64_t pairs = 5;  ///< of blocks
    double block_ms = 400;   ///< approximate duration of a block
    /// Memory limit in bytes for the search of each precision's largest batch; 0: the free memory
    /// of the device. Empty: no search.
    std::optional<std::int64_t> batch_memory;
    /// Called between blocks and before each trial of a batch. Returning false ends the
    /// measurement. May be null.
    std::function<bool(const SpeedupProgress&)> goes_on;
};

/// Measures these settings in FP32 and in each of the precisions, each as its preset has it: forced
/// types and overrides of a preset are left out. If it is ended early, the rows that are complete.
/// The settings must have passed validate(). Throws Error.
std::vector<Speedup> measure_speedup(const RunConfig& config, const SpeedupOptions& options);

/// These settings with defaults in place of all that does not change the speed of a step:
/// precision, seed, learning rate, length of the run. Runs with equal results share a measurement.
RunConfig speed_settings(RunConfig config);

/// Settings of the models that `bench --all` measures, one of each family of the catalog, on
/// generated data and at sizes that a laptop trains.
std::vector<RunConfig> speedup_settings();

/// A table for a terminal, and for Markdown.
std::string text_of(const std::vector<Speedup>& rows);
std::string to_markdown(const std::vector<Speedup>& rows);
/// One JSON object.
std::string to_json(const Speedup& speedup);
/// Reads what to_json() wrote, and composes the sentence again. Nothing for any other text.
std::optional<Speedup> parse_speedup(std::string_view json);

}  // namespace engine
