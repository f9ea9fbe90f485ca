#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "engine/base/metric.h"

namespace engine {

/// One optimizer step, a row of the record. All gradient figures are unscaled unless they say so. A
/// float that was not measured is NaN; a non-finite loss is stored as it is.
struct StepRecord {
    std::int64_t step;          ///< from 1; optimizer steps tried, skipped ones included
    std::int64_t epoch;         ///< completed epochs
    std::int64_t samples;       ///< seen so far
    std::int64_t updates;       ///< applied so far; step - updates were skipped
    double elapsed_s;           ///< this run's own training time so far
    double clock_s;             ///< seconds since 1970 (UTC) when the step ended, to 1 ms; does not
                                ///< fall within a run; NaN in records of earlier versions
    std::int64_t memory_bytes;  ///< in use at the end of the step, over all uses
    std::int64_t peak_bytes;    ///< highest so far
    float loss;                 ///< mean over the batch, unscaled
    float accuracy;             ///< of this batch, training mode; NaN in regression
    float lr;
    float loss_scale;             ///< the one used in this step; 1 without scaler
    std::int32_t growth_tracker;  ///< after this step's update
    std::uint8_t found_inf;       ///< 1: the step was skipped, weights unchanged
    float grad_norm;              ///< L2 over all parameters; inf or NaN if a gradient is
    float grad_max;               ///< largest magnitude over all parameter gradients
    float grad_max_exponent;      ///< floor(log2(grad_max)); NaN if grad_max is 0 or not finite
    float scaled_f16_max;  ///< largest magnitude of any scaled f16 gradient; NaN if none or lost
    float scale_ceiling;   ///< 65504 * loss_scale / scaled_f16_max; NaN: unknown
    float f16_zero_share;  ///< of the parameter gradients as scaled f16 values: became 0,
    float f16_subnormal_share;  ///< subnormal,
    float f16_overflow_share;   ///< or not finite
    /// Share of the non-zero updates of weights stored in 16 bits that rounded to no change. If
    /// there are masters, their updates count. NaN: there are no such weights, or nothing to
    /// update.
    float lost_update_share;
    float grad_zero_share;  ///< of all parameter gradients, those that are exactly 0
    float step_ms;          ///< this run's own time, without its neighbours' turns
    float data_ms;          ///< of it: waiting for and preparing the batch,
    float forward_ms;
    float backward_ms;
    float optimizer_ms;
    float samples_per_s;  ///< over this step
    /// Metrics of a task other than accuracy, in their order (metric_column()); NaN if unused.
    float metric_1, metric_2, metric_3, metric_4, metric_5, metric_6, metric_7, metric_8;
    /// The smallest loss scale that keeps 99.9 % of the non-zero gradients of all layers from
    /// becoming 0 in f16. NaN if the step's histograms were not taken (instruments), or if f16 had
    /// flushed gradients before they could be counted.
    float scale_floor;
    /// Only in a data-parallel run: time in which gradients were exchanged between the ranks, and
    /// the share of it during which the backward pass went on. NaN in one process.
    float exchange_ms;
    float exchange_hidden_share;
};

/// Columns for the metrics of a task beside `accuracy`.
inline constexpr std::size_t max_metrics = 8;
inline constexpr std::array<float StepRecord::*, max_metrics> metric_columns = {
    &StepRecord::metric_1, &StepRecord::metric_2, &StepRecord::metric_3, &StepRecord::metric_4,
    &StepRecord::metric_5, &StepRecord::metric_6, &StepRecord::metric_7, &StepRecord::metric_8};

/// The column of metric `index` of a task: `accuracy` has the column of that name, which earlier
/// versions wrote too; others have metric_1, metric_2, and so on. Throws Error(state) for more than
/// max_metrics.
float StepRecord::*metric_column(std::span<const Metric> metrics, std::size_t index);

/// Calls f(name, member pointer) for each field, in file order. The names are those of `--json`,
/// the CSV header and the record's header.
template <typename F>
constexpr void for_each_field(F&& f) {
    f("step", &StepRecord::step);
    f("epoch", &StepRecord::epoch);
    f("samples", &StepRecord::samples);
    f("updates", &StepRecord::updates);
    f("elapsed_s", &StepRecord::elapsed_s);
    f("clock_s", &StepRecord::clock_s);
    f("memory_bytes", &StepRecord::memory_bytes);
    f("peak_bytes", &StepRecord::peak_bytes);
    f("loss", &StepRecord::loss);
    f("accuracy", &StepRecord::accuracy);
    f("lr", &StepRecord::lr);
    f("loss_scale", &StepRecord::loss_scale);
    f("growth_tracker", &StepRecord::growth_tracker);
    f("found_inf", &StepRecord::found_inf);
    f("grad_norm", &StepRecord::grad_norm);
    f("grad_max", &StepRecord::grad_max);
    f("grad_max_exponent", &StepRecord::grad_max_exponent);
    f("scaled_f16_max", &StepRecord::scaled_f16_max);
    f("scale_ceiling", &StepRecord::scale_ceiling);
    f("f16_zero_share", &StepRecord::f16_zero_share);
    f("f16_subnormal_share", &StepRecord::f16_subnormal_share);
    f("f16_overflow_share", &StepRecord::f16_overflow_share);
    f("lost_update_share", &StepRecord::lost_update_share);
    f("grad_zero_share", &StepRecord::grad_zero_share);
    f("step_ms", &StepRecord::step_ms);
    f("data_ms", &StepRecord::data_ms);
    f("forward_ms", &StepRecord::forward_ms);
    f("backward_ms", &StepRecord::backward_ms);
    f("optimizer_ms", &StepRecord::optimizer_ms);
    f("samples_per_s", &StepRecord::samples_per_s);
    f("metric_1", &StepRecord::metric_1);
    f("metric_2", &StepRecord::metric_2);
    f("metric_3", &StepRecord::metric_3);
    f("metric_4", &StepRecord::metric_4);
    f("metric_5", &StepRecord::metric_5);
    f("metric_6", &StepRecord::metric_6);
    f("metric_7", &StepRecord::metric_7);
    f("metric_8", &StepRecord::metric_8);
    f("scale_floor", &StepRecord::scale_floor);
    f("exchange_ms", &StepRecord::exchange_ms);
    f("exchange_hidden_share", &StepRecord::exchange_hidden_share);
}

/// Like for_each_field, with the metrics under their keys: `metric_1` is called "rmse". Fields of
/// metrics that the task does not have are left out.
template <typename F>
void for_each_named_field(std::span<const Metric> metrics, F&& f) {
    for_each_field([&](std::string_view name, auto member) {
        if constexpr (std::is_same_v<decltype(member), float StepRecord::*>) {
            const bool of_metric = member == &StepRecord::accuracy ||
                                   std::find(metric_columns.begin(), metric_columns.end(),
                                             member) != metric_columns.end();
            if (of_metric) {
                for (std::size_t i = 0; i < metrics.size(); ++i) {
                    if (metric_column(metrics, i) == member)
                        f(std::string_view(metrics[i].key), member);
                }
                return;
            }
        }
        f(name, member);
    });
}

/// How a record is read while another process may be writing it.
enum class RecordAccess {
    automatic,  ///< polled on a network file system, else mapped
    mapped,     ///< rows are there as soon as a process of this machine has published them
    polled,     ///< by pread, with a look at the count four times a second
};

/// Read access to a run's record, live or finished. Rows [0, size()) are published and never
/// change. Any thread; an object is used by one thread at a time. Copies share the file.
class StepRecordReader {
public:
    /// Opens the record in a run's folder. Throws Error(data) if it is missing, of another version
    /// or damaged.
    static StepRecordReader open(const std::filesystem::path& run_folder,
                                 RecordAccess access = RecordAccess::automatic);

    StepRecordReader();
    ~StepRecordReader();
    StepRecordReader(const StepRecordReader&);
    StepRecordReader(StepRecordReader&&) noexcept;
    StepRecordReader& operator=(const StepRecordReader&);
    StepRecordReader& operator=(StepRecordReader&&) noexcept;

    /// Rows published so far, or as many of them as up_to() allows.
    std::int64_t size() const;
    /// Throws Error(data) if another program removed, replaced, overwrote or truncated the file
    /// since it was opened. Reading rows only detects damage of the rows read.
    void check() const;
    /// This record without the rows from `rows` on, as it was at that length.
    StepRecordReader up_to(std::int64_t rows) const;
    /// Throws Error(value) for rows that are not published, and Error(data) if the file was
    /// truncated meanwhile. A field that a file of an earlier version lacks reads as NaN or 0.
    StepRecord row(std::int64_t index) const;
    /// Copies rows [first, first + out.size()).
    void rows(std::int64_t first, std::span<StepRecord> out) const;
    /// Copies one column, rows [first, first + out.size()), converted to double: for plots.
    void column(double StepRecord::*, std::int64_t first, std::span<double> out) const;
    void column(float StepRecord::*, std::int64_t first, std::span<double> out) const;
    void column(std::int64_t StepRecord::*, std::int64_t first, std::span<double> out) const;
    void column(std::int32_t StepRecord::*, std::int64_t first, std::span<double> out) const;
    void column(std::uint8_t StepRecord::*, std::int64_t first, std::span<double> out) const;

private:
    struct Impl;
    explicit StepRecordReader(std::shared_ptr<Impl> impl);
    bool holds_range(std::int64_t first, std::size_t count) const;
    std::shared_ptr<Impl> impl_;
    std::int64_t limit_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace engine
