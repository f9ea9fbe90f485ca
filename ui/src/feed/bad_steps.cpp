#include "feed/bad_steps.h"

#include <algorithm>

#include "feed/run_track.h"

namespace ui {

namespace {

std::int64_t nonFinite(const SeriesPyramid& series, std::int64_t first, std::int64_t last) {
    return last > first ? last - first - std::int64_t{series.total(first, last).finite} : 0;
}

/// The first row in [from, size) that is not finite; -1: none.
std::int64_t firstNonFinite(const SeriesPyramid& series, std::int64_t from) {
    std::int64_t low = from, high = series.size();
    if (nonFinite(series, low, high) == 0) return -1;
    while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        (nonFinite(series, low, middle) > 0 ? high : low) = middle;
    }
    return low;
}

/// The last row in [0, end) that is not finite; -1: none.
std::int64_t lastNonFinite(const SeriesPyramid& series, std::int64_t end) {
    std::int64_t low = 0, high = end;
    if (nonFinite(series, low, high) == 0) return -1;
    while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        (nonFinite(series, middle, high) > 0 ? low : high) = middle;
    }
    return low;
}

}  // namespace

BadSteps badSteps(const RunTrack& track) {
    // The count of updates would mislead here, since a resync of a twin sets it.
    const auto& found = track.series(&engine::StepRecord::found_inf);
    BadSteps out;
    out.last_skip = found.previousAbove0(found.size() - 1);
    // Figures that another program did not measure are NaN in its record.
    if (track.origin()) return out;
    const auto& loss = track.series(&engine::StepRecord::loss);
    const auto& norm = track.series(&engine::StepRecord::grad_norm);
    out.losses = nonFinite(loss, 0, loss.size());
    out.norms = nonFinite(norm, 0, norm.size());
    return out;
}

std::int64_t nextBadRow(const RunTrack& track, std::int64_t from, int direction) {
    const auto& found = track.series(&engine::StepRecord::found_inf);
    const bool back = direction < 0;
    std::int64_t best = back ? found.previousAbove0(from - 1) : found.nextAbove0(from + 1);
    if (track.origin()) return best;
    for (const auto& series : {&track.series(&engine::StepRecord::loss),
                               &track.series(&engine::StepRecord::grad_norm)}) {
        const std::int64_t other = back ? lastNonFinite(*series, std::min(from, series->size()))
                                        : firstNonFinite(*series, from + 1);
        if (other < 0) continue;
        best = best < 0 ? other : back ? std::max(best, other) : std::min(best, other);
    }
    return best;
}

}  // namespace ui
