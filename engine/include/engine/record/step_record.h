#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include "engine/base/metric.h"

namespace engine {

/// One optimizer step, a row of the record, with a field for each column of step_columns.inc.
struct StepRecord {
#define HALFTONE_COLUMN(type, name, ...) type name;
#include "engine/record/step_columns.inc"
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

/// A column of the record, as step_columns.inc describes it.
struct StepColumn {
    enum class Presence { always, added, of_exchange, of_card, of_cpu_meter, of_recipe };
    const char* name;
    Presence presence;
    std::string_view title, unit, definition;
};

/// Calls f(column, member pointer) for each column, in file order.
template <typename F>
constexpr void for_each_column(F&& f) {
    using enum StepColumn::Presence;
#define HALFTONE_COLUMN(type, name, ...) f(StepColumn{#name, __VA_ARGS__}, &StepRecord::name);
#include "engine/record/step_columns.inc"
}

/// Calls f(name, member pointer) for each field, in file order.
template <typename F>
constexpr void for_each_field(F&& f) {
    for_each_column([&f](const StepColumn& column, auto member) { f(column.name, member); });
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
    template <typename T>
    void column(T StepRecord::*field, std::int64_t first, std::span<double> out) const;

private:
    struct Impl;
    explicit StepRecordReader(std::shared_ptr<Impl> impl);
    bool holds_range(std::int64_t first, std::size_t count) const;
    std::shared_ptr<Impl> impl_;
    std::int64_t limit_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace engine
