#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "engine/step_record.h"

namespace engine {

/// How fast a run trains: the one figure that cards, tables, verdicts, the status line, `compare`
/// and reports show.
struct Speed {
    /// Mean of the middle half of the step times; NaN: unknown.
    double step_ms = std::numeric_limits<double>::quiet_NaN();
    double samples_per_s = std::numeric_limits<double>::quiet_NaN();  ///< at that step time
    std::int64_t first_step = 0;  ///< of the steps measured, from 1; 0: none
    std::int64_t last_step = 0;

    bool known() const { return first_step > 0; }
};

/// The speed of each run, over the same steps of all of them: the newest 512 steps that all runs
/// have, without the first 10 (they build primitives and fill caches) or, of runs shorter than 20
/// steps, without the first half. A run shorter than that beside longer ones has no speed, for it
/// would shorten theirs. Evaluation is in no step's time. Reads a bounded number of rows. Throws
/// Error(data) if a record cannot be read.
std::vector<Speed> speeds(const std::vector<StepRecordReader>& records);

}  // namespace engine
