#include "engine/record/speed.h"

#include <algorithm>

#include "record/median.h"

namespace engine {
namespace {

constexpr std::int64_t warm_up = 10;
constexpr std::int64_t most = 512;
constexpr std::int64_t short_run = 2 * warm_up;

/// Rows [begin, end) of a record.
struct Rows {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::size_t count() const { return static_cast<std::size_t>(end - begin); }
};

Rows common_rows(const std::vector<std::int64_t>& sizes) {
    const std::int64_t longest = sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
    const std::int64_t least = longest >= short_run ? short_run : 2;
    Rows rows{0, longest};
    for (const std::int64_t size : sizes) {
        if (size >= least) rows.end = std::min(rows.end, size);
    }
    rows.begin = std::max(std::min(warm_up, rows.end / 2), rows.end - most);
    return rows;
}

/// Mean over those rows whose times the typical time is the mean of: the last step of an epoch may
/// have fewer batches, or a smaller one, and take less time. Row 0 counts from no samples.
double samples_a_step(const StepRecordReader& record, const Rows& rows,
                      const std::vector<double>& times) {
    std::int64_t seen = 0, kept = 0;
    for (const std::size_t i : interquartile_places(times)) {
        const std::int64_t row = rows.begin + static_cast<std::int64_t>(i);
        seen += record.row(row).samples - (row == 0 ? 0 : record.row(row - 1).samples);
        ++kept;
    }
    // A program that does not count its samples writes 0.
    if (seen <= 0) return std::numeric_limits<double>::quiet_NaN();
    return static_cast<double>(seen) / static_cast<double>(kept);
}

}  // namespace

std::vector<Speed> speeds(const std::vector<StepRecordReader>& records) {
    std::vector<std::int64_t> sizes;
    for (const auto& record : records) sizes.push_back(record.size());
    const Rows rows = common_rows(sizes);
    std::vector<Speed> result(records.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
        if (rows.end < 2 || sizes[i] < rows.end) continue;
        std::vector<double> times(rows.count());
        records[i].column(&StepRecord::step_ms, rows.begin, times);
        const double typical = interquartile_mean(times);
        if (!(typical > 0)) continue;
        result[i] = {typical, samples_a_step(records[i], rows, times) * 1e3 / typical, rows.begin + 1,
                     rows.end};
    }
    return result;
}

}  // namespace engine
